package main

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tollbooth/internal/clock"
)

func TestALogOfAnotherPlanOrSeedIsAnError(t *testing.T) {
	e := startEndpoint(t)
	target := startRelay(t, e.grpcAddress).address
	folder := t.TempDir()
	l := rate(500, 1)
	// Only the number of attributes is drawn.
	*l.DurationS, l.Plan.Spans, l.Plan.SpanDurationMs, l.Plan.Attributes = 0.2, bounds{10, 10}, bounds{5, 5}, bounds{0, 10}
	if err := sendInto(context.Background(), folder, e, l, target); err != nil {
		t.Fatal(err)
	}
	g := &generator{folder: folder, targets: []string{target}, receiver: e.receiver, stop: context.Background()}
	for number, c := range []struct {
		change func(*load)
		differ string
	}{
		{func(*load) {}, ""},
		{func(l *load) { l.Seed++ }, "attributes of"},
		{func(l *load) { l.Plan.Spans = bounds{9, 9} }, "and has 9 spans"},
		{func(l *load) { l.Plan.IncompleteProbability = 1 }, "and has 10 spans (9 sent)"},
		{func(l *load) { l.Plan.SpanDurationMs = bounds{6, 6} }, "of 6 ms"},
		{func(l *load) { l.Plan.Attributes = bounds{11, 11} }, "11 attributes"},
		{func(l *load) { l.Plan.AttributeBytes = bounds{17, 17} }, "of 17 bytes"},
		{func(l *load) { l.Plan.Clients = bounds{2, 2} }, "clients: 2"},
		{func(l *load) { l.Plan.RiskyProbability = 1 }, "risky: true"},
		{func(l *load) { l.Plan.ErrorProbability = 1 }, "error: true"},
	} {
		again := l
		again.Decoupled, again.Replay = nil, &replay{"traces-0.csv", 3}
		c.change(&again)
		said := ""
		if err := g.send(number+1, again); err != nil {
			said = err.Error()
		}
		if c.differ == "" && said != "" {
			t.Errorf("the same plan and seed: said %q", said)
		}
		if c.differ != "" && (!strings.Contains(said, c.differ) || !strings.HasSuffix(said, " by this plan and seed")) {
			t.Errorf("case %d: said %q, which does not contain %q", number, said, c.differ)
		}
	}
}

func TestWhatIsDueBeyondTheLimitIsNotSent(t *testing.T) {
	const planned, most = 100, 5
	e := startEndpoint(t)
	target, released := startRelay(t, e.grpcAddress), make(chan struct{})
	hang := func(ctx context.Context) error {
		select {
		case <-released:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	target.accepts.Store(&hang)
	l := rate(200, 1)
	*l.DurationS, l.Plan.Spans.Min = 0.5, 1
	ctx, end := context.WithCancel(context.Background())
	defer end()
	r := &run{load: l, folder: t.TempDir(), clock: clock.New(), receiver: e.receiver, end: end}
	if err := r.openTo(ctx, []string{target.address}); err != nil {
		t.Fatal(err)
	}
	records, err := r.record("traces", "csv", recordHeader)
	if err != nil {
		t.Fatal(err)
	}
	o := r.newOpenLoop(records, success)
	if o.most != maxInFlight {
		t.Errorf("the limit is %d", o.most)
	}
	o.most = most
	ended := make(chan error, 1)
	go func() { ended <- o.sendAll(ctx, l.Decoupled.schedule(l.Seed, l.duration())) }()
	eventually(t, "the rest is not sent", func() bool { return r.counters.unsent.Load() == planned-most })
	close(released)
	if err := cmp.Or(<-ended, records.finish()); err != nil {
		t.Fatal(err)
	}
	checkNotSent(t, filepath.Join(r.folder, "traces-0.csv"), planned, most)
	sent := r.counters.outcomes[success].Load()
	if all := r.counters.sent.Load(); sent != most || all != planned || target.requests.Load() != most {
		t.Errorf("%d of %d traces sent by the counters, %d arrived", sent, all, target.requests.Load())
	}
}

// checkNotSent checks that each planned trace has a record: so many were sent, and the rest says that it was not. Only
// what was sent can be sent again.
func checkNotSent(t *testing.T, path string, planned, sent int) {
	t.Helper()
	records, found := recordsOf(t, path), map[verdict]int{}
	for _, each := range records {
		found[verdict{each.outcome, each.code}]++
		wasNot := each.code == codeNotSent
		if (each.sendStart == never) != wasNot || (each.sendEnd == never) != wasNot {
			t.Errorf("%+v", each)
		}
	}
	if found[sentWell] != sent || found[verdict{sendError, codeNotSent}] != planned-sent || len(records) != planned {
		t.Errorf("%d records of %d traces: %v", len(records), planned, found)
	}
	if again, err := readReplay(path); err != nil || len(again) != sent {
		t.Errorf("a replay has %d traces (%v)", len(again), err)
	}
}

func TestATraceThatComesTwiceDoesNotHideALostOne(t *testing.T) {
	e := startEndpoint(t)
	r := startRelay(t, e.grpcAddress)
	var number atomic.Int64
	var lost sync.Map // by trace ID
	// Of two traces, one comes twice and the other never.
	look := func(taken message) {
		parts, err := tally(taken, nil)
		if err != nil || len(parts) != 1 {
			t.Errorf("%d parts (%v)", len(parts), err)
			return
		}
		if number.Add(1)%2 == 0 {
			lost.Store(parts[0].id, true)
		} else if err := e.take(taken); err != nil {
			t.Error(err)
		}
	}
	r.looks.Store(&look)
	r.keeps = func(id traceID) bool {
		_, is := lost.Load(id)
		return !is
	}
	l := rate(100, 1)
	*l.DurationS, l.Plan.Spans, l.ReceiveTimeoutMs = 0.2, bounds{5, 5}, 500
	records, c := sentBy(t, e, l, r.address)
	if found := byOutcome(t, records, c); found[success] != 10 || found[receiveTimeout] != 10 || len(records) != 20 {
		t.Errorf("%d traces: %v", len(records), found)
	}
}

// late is a connection that sends after a while.
type late struct{ connection }

func (l late) send(load context.Context, timeout time.Duration, b *body) verdict {
	time.Sleep(300 * time.Millisecond)
	return l.connection.send(load, timeout, b)
}

func TestWhatIsLeftOfAnotherLoadDoesNotShortenTheWait(t *testing.T) {
	e := startEndpoint(t)
	r := startRelay(t, e.grpcAddress)
	r.to = late{r.to}
	// More spans than the load sends: each of its traces has up to 20.
	left := func(message) {
		if err := e.take(encoded(tenSpans(), 3)); err != nil {
			t.Error(err)
		}
	}
	r.looks.Store(&left)
	l := rate(200, 1)
	*l.DurationS, l.Plan.Spans.Min = 0.5, 1
	records, c := sentBy(t, e, l, r.address)
	if found := byOutcome(t, records, c); found[success] != 100 || len(records) != 100 {
		t.Errorf("%d traces: %v", len(records), found)
	}
}
