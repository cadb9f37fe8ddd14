package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"tollbooth/internal/clock"
)

const (
	// From the begin of the load to its first request, which is then not late.
	leadTime = 10 * time.Millisecond
	// A load that is ended is noticed after this long, while nothing is due.
	longestSleep = 100 * time.Millisecond
	checkReturns = 50 * time.Millisecond
	// So many traces are drawn and encoded before they are due, but at least two requests.
	tracesAhead = 256
)

// openLoop is a decoupled load while it is sent.
type openLoop struct {
	*run
	connections [][]connection // by worker
	batches     sync.Pool
	records     *recorder
	onAnswer    outcome // of a trace that its target accepted
	most        int64   // requests under way at once; what is due beyond them is not sent
	underWay    atomic.Int64
	ended       sync.WaitGroup
}

// batch is the traces that are due together. Its memory is used again.
type batch struct {
	due     int64 // Unix ns
	worker  int
	sent    int // traces that are not empty
	bodies  []*body
	drawer  *drawer
	ids     identifier
	traces  []trace
	records []record
	text    []byte
}

// decoupled sends the schedule's traces, whatever becomes of them, and then matches them with those that came back.
func (r *run) decoupled(ctx context.Context, next schedule) error {
	if !r.load.Returns {
		records, err := r.record("traces", "csv", recordHeader)
		if err != nil {
			return err
		}
		return cmp.Or(r.newOpenLoop(records, success).sendAll(ctx, next), records.finish())
	}
	sent, err := r.record("sent", "csv", recordHeader)
	if err != nil {
		return err
	}
	came, err := r.record("arrivals", "csv", arrivalHeader)
	if err != nil {
		return err
	}
	r.receiver.to.Store(&delivery{r.clock, func(parts []part, ns int64) {
		var text []byte
		own := uint64(0)
		for _, p := range parts {
			text = arrival{p, ns}.append(text)
			if r.key.has(p.id) {
				own += p.weight()
			}
		}
		came.add(text)
		// Last: the load ends when all of its spans are counted, and what is added afterwards is lost.
		r.counters.returned.Add(own)
	}})
	err = r.newOpenLoop(sent, accepted).sendAll(ctx, next)
	r.awaitReturns(ctx)
	r.receiver.to.Store(nil)
	ended := r.clock.Now()
	if err := cmp.Or(err, sent.finish(), came.finish()); err != nil {
		return err
	}
	return r.match(sent.path, came.path, ended)
}

// newOpenLoop is an open loop that logs its traces. Those that their target accepted have this outcome.
func (r *run) newOpenLoop(records *recorder, onAnswer outcome) *openLoop {
	o := &openLoop{run: r, records: records, onAnswer: onAnswer, most: maxInFlight}
	o.batches.New = func() any { return &batch{drawer: newDrawer(r.load.Plan, r.load.Seed), ids: newIdentifier(r.key)} }
	return o
}

// sendAll sends the schedule's requests when they are due, and returns when all have ended.
func (o *openLoop) sendAll(ctx context.Context, next schedule) (err error) {
	if o.connections, err = o.openAll(o.load.connections()); err != nil {
		return err
	}
	runtime.GC() // what the last load left
	ready := make(chan *batch, max(2, tracesAhead/o.load.tracesPerRequest()))
	go o.prepare(ctx, next, ready)
	clock.Precisely(func() { o.loop(ctx, ready) })
	o.ended.Wait()
	closeAll(o.connections)
	return nil
}

// prepare draws and encodes the schedule's traces before they are due.
func (o *openLoop) prepare(ctx context.Context, next schedule, ready chan<- *batch) {
	defer close(ready)
	began := o.clock.Now() + leadTime.Nanoseconds()
	for request, more := next(); more; request, more = next() {
		b := o.batches.Get().(*batch)
		request.after += began // from here on in Unix time
		clients := o.draw(b, request)
		b.bodies = o.encode(b.bodies[:0], b.traces, clients)
		select {
		case ready <- b:
		case <-ctx.Done():
			return
		}
	}
}

// loop has each batch sent when it is due.
func (o *openLoop) loop(ctx context.Context, ready <-chan *batch) {
	for b := range ready {
		for o.clock.Now() < b.due && ctx.Err() == nil {
			o.clock.SleepUntil(min(b.due, o.clock.Now()+longestSleep.Nanoseconds()))
		}
		if ctx.Err() != nil {
			return
		}
		o.ended.Add(1)
		go o.send(ctx, b)
	}
}

// send sends one batch and logs its traces.
func (o *openLoop) send(ctx context.Context, b *batch) {
	defer o.ended.Done()
	defer o.underWay.Add(-1)
	defer o.batches.Put(b)
	tooMany := o.underWay.Add(1) > o.most
	o.counters.sent.Add(uint64(b.sent))
	var s sending
	switch {
	case tooMany:
		s = sending{verdict: verdict{sendError, codeNotSent}}
		o.counters.unsent.Add(uint64(b.sent))
	case b.sent > 0:
		o.counters.awaited.Add(b.weight())
		s = o.exchange(ctx, o.connections[b.worker%len(o.connections)], b.bodies)
	}
	if s.verdict == sentWell {
		s.outcome = o.onAnswer
	}
	o.log(b, s)
}

// draw draws a request's traces, which end when they are due. It returns the largest number of clients.
func (o *openLoop) draw(b *batch, request due) (clients int) {
	if cap(b.traces) < request.traces {
		b.traces = make([]trace, request.traces)
	}
	b.due, b.worker, b.sent = request.after, request.worker, 0
	b.traces, b.records = b.traces[:request.traces], b.records[:0]
	began := o.clock.Now()
	for i := range b.traces {
		t, number := &b.traces[i], request.number+uint64(i)
		b.drawer.draw(request.worker, number, t)
		b.ids.identify(t)
		t.begin = b.due - t.lasts().Nanoseconds()
		logged := recordOf(request.worker, number, b.due, t)
		if request.logged != unlogged && request.logged != logged.shape() {
			o.fail(fmt.Errorf("replay: trace %d of worker %d was logged with %s, and has %s by this plan and seed",
				number, request.worker, request.logged, logged.shape()))
		}
		logged.loop = began - b.due
		b.records = append(b.records, logged)
		if len(t.spans) > 0 {
			b.sent++
			clients = max(clients, t.clients)
		}
	}
	return clients
}

// weight is that of all spans that are sent.
func (b *batch) weight() (sum uint64) {
	for i := range b.records {
		sum += part{b.records[i].id, b.records[i].spansSent}.weight()
	}
	return sum
}

// log logs a batch's traces.
func (o *openLoop) log(b *batch, s sending) {
	b.text = b.text[:0]
	now := o.clock.Now()
	for i := range b.records {
		logged := &b.records[i]
		logged.outcome = empty
		if logged.spans > 0 {
			logged.outcome, logged.code = s.outcome, s.code
			if s.code != codeNotSent {
				logged.sendStart, logged.sendEnd = s.start-logged.intended, s.end-logged.intended
			}
		}
		logged.logged = now - logged.intended
		b.text = logged.append(b.text)
		o.counters.outcomes[logged.outcome].Add(1)
	}
	o.records.add(b.text)
}

// awaitReturns returns when as many spans of each of the load's own traces came back as were sent, or the receive timeout
// is over. With a trace that came twice, it is always the latter.
func (r *run) awaitReturns(ctx context.Context) {
	end := time.Now().Add(r.load.receiveTimeout())
	for r.counters.returned.Load() != r.counters.awaited.Load() && time.Now().Before(end) && sleep(ctx, checkReturns) {
	}
}

// match writes the traces with their outcomes in place of those that were sent.
func (r *run) match(sent, came string, ended int64) error {
	matched, err := r.record("traces", "csv", recordHeader)
	if err != nil {
		return err
	}
	if err := matchFiles(sent, came, r.load.receiveTimeout().Nanoseconds(), ended, matched); err != nil {
		return err
	}
	// A full disk leaves what was sent.
	if err := matched.finish(); err != nil {
		return err
	}
	return os.Remove(sent)
}
