package main

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// A worker whose send failed pauses: without a target, thousands of workers would do nothing but fail.
const pauseAfterFailure = 100 * time.Millisecond

// worker sends one trace after the other, each when the one before has come back, over a connection to each target.
type worker struct {
	*run
	number      int
	connections []connection
	drawer      *drawer
	ids         identifier
	traces      [1]trace
	bodies      []*body
	waiting     *waiting
	waiter      *waiter
	records     *recorder
	line        []byte
}

// coupled starts the load's workers, and returns when all have ended.
func (r *run) coupled(ctx context.Context) error {
	records, err := r.record("traces", "csv", recordHeader)
	if err != nil {
		return err
	}
	shared, err := r.openAll(r.load.Coupled.Shared)
	if err != nil {
		return cmp.Or(err, records.finish())
	}
	defer closeAll(shared)
	defer time.AfterFunc(r.load.duration(), r.end).Stop()
	wait := newWaiting()
	r.receiver.to.Store(&delivery{r.clock, func(parts []part, ns int64) {
		r.counters.unexpected.Add(uint64(wait.arrived(parts, ns)))
	}})
	defer r.receiver.to.Store(nil)
	var workers sync.WaitGroup
	began := time.Now()
	for number := range r.load.Coupled.Workers {
		if perS := r.load.Coupled.WorkersPerS; perS > 0 {
			at := began.Add(time.Duration(float64(number) / perS * float64(time.Second)))
			sleep(ctx, time.Until(at))
		}
		if ctx.Err() != nil {
			break
		}
		w := &worker{
			run: r, number: number, drawer: newDrawer(r.load.Plan, r.load.Seed), ids: newIdentifier(r.key),
			waiting: wait, waiter: newWaiter(), records: records,
		}
		if len(shared) > 0 {
			w.connections = shared[number%len(shared)]
		}
		workers.Go(func() { w.work(ctx) })
	}
	workers.Wait()
	return records.finish()
}

// work sends traces until the load ends.
func (w *worker) work(ctx context.Context) {
	w.counters.workers.Add(1)
	defer w.counters.workers.Add(-1)
	if w.connections == nil {
		opened, err := w.openAll(1)
		if err != nil {
			w.fail(err)
			return
		}
		defer closeAll(opened)
		w.connections = opened[0]
	}
	for number := uint64(0); ctx.Err() == nil; number++ {
		if ended := w.once(ctx, number); ended == sendError || ended == sendTimeout {
			sleep(ctx, pauseAfterFailure)
		}
	}
}

// once draws, sends, awaits and logs one trace. A trace that is not sent yet when the load ends is not logged.
func (w *worker) once(ctx context.Context, number uint64) outcome {
	t := &w.traces[0]
	began := w.clock.Now()
	w.drawer.draw(w.number, number, t)
	w.ids.identify(t)
	logged := recordOf(w.number, number, began, t)
	if len(t.spans) == 0 {
		logged.outcome = empty
		return w.log(&logged)
	}
	if w.load.Coupled.WaitOut {
		if !sleep(ctx, t.lasts()) {
			return shutdown
		}
		logged.waited = w.clock.Now() - began
	}
	t.begin = w.clock.Now() - t.lasts().Nanoseconds()
	if w.load.Returns {
		w.waiting.expect(t.id, t.sent(), w.waiter)
	}
	w.counters.sent.Add(1)
	w.bodies = w.encode(w.bodies[:0], w.traces[:], t.clients)
	s := w.exchange(ctx, w.connections, w.bodies)
	logged.sendStart, logged.sendEnd = s.start-began, s.end-began
	logged.outcome, logged.code = s.outcome, s.code
	if w.load.Returns {
		w.await(ctx, &logged)
	}
	return w.log(&logged)
}

// await waits for the trace if it was sent, and logs what came back of it.
func (w *worker) await(ctx context.Context, logged *record) {
	if logged.outcome == success {
		logged.receiveStart = w.clock.Now() - logged.intended
		logged.outcome = w.awaited(ctx)
	}
	w.waiting.forget(logged.id, w.waiter)
	logged.spansReceived = w.waiter.got
	if w.waiter.got > 0 {
		logged.receiveEnd = w.waiter.last - logged.intended
	}
}

func (w *worker) awaited(ctx context.Context) outcome {
	timer := time.NewTimer(w.load.receiveTimeout())
	defer timer.Stop()
	select {
	case <-w.waiter.complete:
		return success
	case <-timer.C:
		return receiveTimeout
	case <-ctx.Done():
		return shutdown
	}
}

func (w *worker) log(logged *record) outcome {
	logged.logged = w.clock.Now() - logged.intended
	w.line = logged.append(w.line[:0])
	w.records.add(w.line)
	w.counters.outcomes[logged.outcome].Add(1)
	return logged.outcome
}
