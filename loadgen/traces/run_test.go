package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	common "tollbooth/internal/load"
)

// relay is a Collector of the tests: it passes on what it accepts.
type relay struct {
	t        testing.TB
	address  string
	to       connection
	accepts  atomic.Pointer[func(context.Context) error] // answers a request; nil: at once
	keeps    func(traceID) bool                          // nil: everything
	looks    atomic.Pointer[func(message)]               // at what it accepts; nil: nobody
	server   *grpc.Server
	passing  sync.WaitGroup
	requests atomic.Int64
}

func startRelay(t testing.TB, to string) *relay {
	t.Helper()
	r := &relay{t: t, to: openConnection(t, "grpc", to, false)}
	r.start(listen(t))
	t.Cleanup(func() { r.kill() })
	return r
}

func (r *relay) start(at net.Listener) {
	r.address = at.Addr().String()
	r.server = grpc.NewServer(grpc.ForceServerCodecV2(codec{}), grpc.WaitForHandlers(true))
	r.server.RegisterService(&grpc.ServiceDesc{
		ServiceName: serviceOTLP, HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Export", Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			var taken message
			if err := decode(&taken); err != nil {
				return nil, err
			}
			return nil, r.export(ctx, taken)
		}}},
	}, r)
	server := r.server
	go func() { _ = server.Serve(at) }()
}

// kill ends the relay as SIGKILL does.
func (r *relay) kill() {
	r.server.Stop()
	r.passing.Wait()
}

// restart starts it again at the same address.
func (r *relay) restart() {
	listener, err := net.Listen("tcp", r.address)
	if err != nil {
		r.t.Error(err)
		return
	}
	r.start(listener)
}

func (r *relay) export(ctx context.Context, taken message) error {
	r.requests.Add(1)
	if accept := r.accepts.Load(); accept != nil {
		if err := (*accept)(ctx); err != nil {
			return err
		}
	}
	if look := r.looks.Load(); look != nil {
		(*look)(taken)
	}
	parts, err := tally(taken, nil)
	if err != nil {
		return err
	}
	if r.keeps != nil && len(parts) > 0 && !r.keeps(parts[0].id) {
		return nil
	}
	r.passing.Go(func() {
		b := newBody()
		b.reset()
		b.room(len(taken))
		b.at -= copy(b.buffer[b.at-len(taken):], taken)
		_ = r.to.send(context.Background(), time.Second, b)
	})
	return nil
}

// clientsSeen is how many requests of each client came to a relay.
type clientsSeen struct {
	mutex    sync.Mutex
	requests map[string]int
}

// watch has the relay count from now on whose spans it gets.
func (r *relay) watch() *clientsSeen {
	seen := &clientsSeen{requests: map[string]int{}}
	look := func(taken message) {
		request := ptraceotlp.NewExportRequest()
		if err := request.UnmarshalProto(taken); err != nil {
			r.t.Error(err)
		}
		seen.mutex.Lock()
		defer seen.mutex.Unlock()
		for _, resource := range request.Traces().ResourceSpans().All() {
			if client, named := resource.Resource().Attributes().Get(serviceName); named {
				seen.requests[client.Str()]++
			}
		}
	}
	r.looks.Store(&look)
	return seen
}

// names are the clients whose spans came.
func (s *clientsSeen) names() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Sorted(maps.Keys(s.requests))
}

// message is a request as it came.
type message []byte

func (m *message) read(data []byte) error {
	*m = bytes.Clone(data)
	return nil
}

// sentBy sends a load to the target, and returns its records and the last line of its counters.
func sentBy(t *testing.T, e *endpoint, l load, targets ...string) ([]record, countersLine) {
	t.Helper()
	folder := t.TempDir()
	if err := sendInto(context.Background(), folder, e, l, targets...); err != nil {
		t.Fatal(err)
	}
	return recordsOf(t, filepath.Join(folder, "traces-0.csv")), lastCounters(t, filepath.Join(folder, "generator-0.jsonl"))
}

func sendInto(stop context.Context, folder string, e *endpoint, l load, targets ...string) error {
	if err := l.Check(); err != nil {
		return err
	}
	return (&generator{folder: folder, targets: targets, receiver: e.receiver, stop: stop}).send(0, l)
}

func recordsOf(t *testing.T, path string) (found []record) {
	t.Helper()
	err := readLines(path, recordHeader, func(line []byte) error {
		r, err := parseRecord(line)
		found = append(found, r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func lastCounters(t *testing.T, path string) (last countersLine) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(read(t, path)), "\n")
	if len(lines) < 3 || !strings.HasPrefix(lines[0], `{"format":"tollbooth.generator","version":1,"t_ns":`) {
		t.Fatalf("counters are %q", lines)
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	return last
}

// byOutcome counts the records, and checks that the counters agree: what was sent is the sum of the outcomes.
func byOutcome(t *testing.T, records []record, c countersLine) map[outcome]int {
	t.Helper()
	found := map[outcome]int{}
	sent, spans := 0, 0
	for _, r := range records {
		found[r.outcome]++
		sent += zeroOrOne(r.outcome != empty)
		spans += r.spansSent
		if r.outcome != empty && (r.sendStart < r.loop || r.sendEnd < r.sendStart || r.logged < r.sendEnd) {
			t.Errorf("times are not in order: %+v", r)
		}
	}
	if c.TracesSent != uint64(sent) || c.Empty != uint64(found[empty]) {
		t.Errorf("%d traces sent and %d empty by the counters, %d and %d by the records", c.TracesSent, c.Empty, sent, found[empty])
	}
	if sum := c.Success + c.SendTimeout + c.SendError + c.ReceiveTimeout + c.Shutdown + c.Accepted; sum != c.TracesSent {
		t.Errorf("%d traces sent, but the sum of outcomes is %d", c.TracesSent, sum)
	}
	return found
}

func TestWorkersGetTheirTracesBack(t *testing.T) {
	for _, transport := range []string{"grpc", "http"} {
		for _, compression := range []string{"none", "gzip"} {
			e := startEndpoint(t)
			target := startRelay(t, e.grpcAddress).address
			if transport == "http" {
				target = e.httpAddress // no Collector between: what is sent comes back at once
			}
			l := someLoad()
			l.Transport, l.Compression, *l.DurationS, l.Coupled.Workers = transport, compression, 1, 20
			records, c := sentBy(t, e, l, target)
			found := byOutcome(t, records, c)
			if found[success] < 100 || found[shutdown] > 20 || found[success]+found[shutdown]+found[empty] != len(records) {
				t.Errorf("%s, %s: %v", transport, compression, found)
			}
			for _, r := range records {
				if r.outcome == success && (r.spansReceived != r.spansSent || r.receiveEnd < r.sendStart || r.receiveStart < r.sendEnd) {
					t.Errorf("%s, %s: %+v", transport, compression, r)
				}
			}
		}
	}
}

func TestWorkersShareConnections(t *testing.T) {
	for _, transport := range []string{"grpc", "http"} {
		e := startEndpoint(t)
		target := startRelay(t, e.grpcAddress).address
		if transport == "http" {
			target = e.httpAddress
		}
		l := someLoad()
		l.Transport, l.Coupled.Workers, l.Coupled.Shared = transport, 20, 3
		records, c := sentBy(t, e, l, target)
		workers := map[int]bool{}
		for _, r := range records {
			workers[r.worker] = workers[r.worker] || r.outcome == success
		}
		if found := byOutcome(t, records, c); len(workers) != 20 || found[sendError] > 0 || found[sendTimeout] > 0 {
			t.Errorf("%s: %d workers, %v", transport, len(workers), found)
		}
		// Over HTTP, a request that the load's end cuts off breaks one.
		if c.ConnectionsOpened < 3 || c.ConnectionsOpened > 6 {
			t.Errorf("%s: opened %d connections", transport, c.ConnectionsOpened)
		}
	}
}

func TestDurationsAreWaitedOutOnlyIfThePlanSaysSo(t *testing.T) {
	e := startEndpoint(t)
	target := startRelay(t, e.grpcAddress).address
	for _, waits := range []bool{false, true} {
		l := someLoad()
		l.Plan.Spans, l.Plan.SpanDurationMs = bounds{2, 2}, bounds{50, 50}
		l.Coupled.WaitOut = waits
		records, _ := sentBy(t, e, l, target)
		for _, r := range records {
			if waits != (r.waited >= (100*time.Millisecond).Nanoseconds()) || r.sendStart < r.waited {
				t.Errorf("waits %v: %+v", waits, r)
			}
		}
		if len(records) == 0 || waits && len(records) > 33 {
			t.Errorf("waits %v: %d records", waits, len(records))
		}
	}
}

func TestWorkersStartAtTheirRate(t *testing.T) {
	e := startEndpoint(t)
	l := someLoad()
	l.Coupled = &coupled{Workers: 1000, WorkersPerS: 20}
	records, _ := sentBy(t, e, l, startRelay(t, e.grpcAddress).address)
	first := map[int]int64{}
	for _, r := range records {
		if at, known := first[r.worker]; !known || r.intended < at {
			first[r.worker] = r.intended
		}
	}
	for worker, at := range first {
		if late := at - first[0] - int64(worker)*5e7; late < -5e6 || late > 2e8 {
			t.Errorf("worker %d starts %v late", worker, time.Duration(late))
		}
	}
	if len(first) < 18 || len(first) > 21 { // the 21st is due when the load ends
		t.Errorf("%d workers in a second", len(first))
	}
}

func TestAnOpenLoopDistinguishesLossesFromSuccess(t *testing.T) {
	e := startEndpoint(t)
	r := startRelay(t, e.grpcAddress)
	r.keeps = func(id traceID) bool { return id[15] < 64 }
	l := rate(2000, 1)
	l.ReceiveTimeoutMs = 300
	records, c := sentBy(t, e, l, r.address)
	found := byOutcome(t, records, c)
	if len(records) != 2000 || found[success]+found[receiveTimeout]+found[empty] != 2000 {
		t.Errorf("%v", found)
	}
	for i, each := range records {
		if kept := each.id[15] < 64; each.outcome != empty && (each.outcome == success) != kept {
			t.Errorf("kept %v, but %+v", kept, each)
		}
		if each.spansReceived != 0 && each.outcome != success {
			t.Errorf("record %d: %+v", i, each)
		}
	}
}

func TestTracesThatCannotBeMatchedAreKeptAsSent(t *testing.T) {
	e := startEndpoint(t)
	r := startRelay(t, e.grpcAddress)
	folder := t.TempDir()
	// What matched cannot take its place, as on a full disk.
	if err := os.MkdirAll(filepath.Join(folder, "traces-0.csv", "in-the-way"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := sendInto(context.Background(), folder, e, rate(200, 1), r.address); err == nil {
		t.Fatal("no error")
	}
	if sent := recordsOf(t, filepath.Join(folder, "sent-0.csv")); len(sent) != 200 {
		t.Errorf("%d of 200 traces are kept", len(sent))
	}
}

func TestAnOpenLoopKeepsItsScheduleWhenTheTargetIsSlow(t *testing.T) {
	e := startEndpoint(t)
	r := startRelay(t, e.grpcAddress)
	slow := func(context.Context) error { time.Sleep(200 * time.Millisecond); return nil }
	r.accepts.Store(&slow)
	l := rate(500, 5)
	records, c := sentBy(t, e, l, r.address)
	if byOutcome(t, records, c); len(records) != 500 {
		t.Errorf("%d records", len(records))
	}
	slices.SortFunc(records, func(a, b record) int { return int(a.intended - b.intended) })
	var late []int64
	for i, each := range records {
		if want := records[0].intended + int64(i/5)*1e7; each.intended != want {
			t.Errorf("trace %d is intended at %d, not %d", i, each.intended, want)
		}
		if each.outcome != empty {
			late = append(late, each.sendStart)
		}
	}
	slices.Sort(late)
	if median := time.Duration(late[len(late)/2]); median > 5*time.Millisecond {
		t.Errorf("half of the traces are sent more than %v late", median)
	}
}

func TestSpansOfSeveralClientsGoToSeveralTargets(t *testing.T) {
	e := startEndpoint(t)
	first, second := startRelay(t, e.grpcAddress), startRelay(t, e.grpcAddress)
	for _, l := range []load{rate(500, 3), someLoad()} {
		// A trace of one span is one request, and not one to each target.
		l.Plan.Spans, l.Plan.Clients, l.Plan.IncompleteProbability, l.Plan.SiblingProbability = bounds{1, 20}, bounds{2, 5}, 0.3, 0.5
		atFirst, atSecond := first.watch(), second.watch()
		records, c := sentBy(t, e, l, first.address, second.address)
		found := byOutcome(t, records, c)
		if found[success] < 100 || found[success]+found[shutdown] != len(records) {
			t.Errorf("%v", found)
		}
		even, odd := []string{"client-0", "client-2", "client-4"}, []string{"client-1", "client-3"}
		if !slices.Equal(atFirst.names(), even) || !slices.Equal(atSecond.names(), odd) {
			t.Errorf("the first target got spans of %q, the second of %q", atFirst.names(), atSecond.names())
		}
	}
}

func TestWhateverTheTargetDoesEveryTraceHasOneOutcome(t *testing.T) {
	reject := func(context.Context) error { return status.Error(codes.Unavailable, "rejected") }
	hang := func(ctx context.Context) error { // until the generator gives up
		<-ctx.Done()
		return ctx.Err()
	}
	for _, open := range []bool{false, true} {
		for name, c := range map[string]struct {
			accepts func(context.Context) error
			keeps   func(traceID) bool
			want    outcome
			code    int
		}{
			"rejecting": {accepts: reject, want: sendError, code: int(codes.Unavailable)},
			"slow":      {accepts: hang, want: sendTimeout},
			"losing":    {keeps: func(traceID) bool { return false }, want: receiveTimeout},
		} {
			e := startEndpoint(t)
			r := startRelay(t, e.grpcAddress)
			l := someLoad()
			if open {
				l = rate(300, 1)
			}
			l.Plan.Spans.Min, l.SendTimeoutMs, l.ReceiveTimeoutMs, *l.DurationS = 1, 100, 100, 1.5
			r.keeps = c.keeps
			if c.accepts != nil {
				r.accepts.Store(&c.accepts)
			}
			records, counted := sentBy(t, e, l, r.address)
			found := byOutcome(t, records, counted)
			if found[c.want] == 0 || found[success] > 0 {
				t.Errorf("%s, open loop %v: %v", name, open, found)
			}
			for _, each := range records {
				if (each.outcome == sendError) != (each.code != 0) || each.code != 0 && each.code != c.code {
					t.Errorf("%s, open loop %v: %+v", name, open, each)
				}
			}
		}
	}
}

var sendFailed = regexp.MustCompile(`"send_error":[1-9]`)

// sentAcrossAKill sends a load to a target that is killed and comes back (Unix ns), and ends it when traces return again.
func sentAcrossAKill(t *testing.T, l load) (records []record, counted countersLine, back int64) {
	t.Helper()
	e := startEndpoint(t)
	r := startRelay(t, e.grpcAddress)
	target, folder, ended := r.address, t.TempDir(), make(chan error, 1)
	counters := filepath.Join(folder, "generator-0.jsonl")
	ctx, end := context.WithCancel(context.Background())
	defer end()
	go func() { ended <- sendInto(ctx, folder, e, l, target) }()
	eventually(t, "the first request arrives", func() bool { return r.requests.Load() > 0 })
	r.kill()
	eventually(t, "a send fails", func() bool {
		text, _ := os.ReadFile(counters + unfinished) // it gets a line each second
		return sendFailed.Match(text)
	})
	came, back := e.requests.Load(), time.Now().UnixNano()
	r.restart()
	eventually(t, "traces return", func() bool { return e.requests.Load() >= came+50 })
	end()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return recordsOf(t, filepath.Join(folder, "traces-0.csv")), lastCounters(t, counters), back
}

func TestATargetThatWasKilledIsFoundAgain(t *testing.T) {
	for _, l := range []load{someLoad(), rate(300, 1)} {
		l.Plan.Spans.Min, *l.DurationS = 1, 60
		records, counted, back := sentAcrossAKill(t, l)
		if found := byOutcome(t, records, counted); found[sendError] == 0 {
			t.Errorf("open loop %v: %v", l.Decoupled != nil, found)
		}
		for _, each := range records {
			if (each.outcome == sendError) != (each.code != 0) || each.code != 0 && each.code != int(codes.Unavailable) {
				t.Errorf("open loop %v: %+v", l.Decoupled != nil, each)
			}
		}
		if !slices.ContainsFunc(records, func(r record) bool { return r.outcome == success && r.intended > back }) {
			t.Errorf("open loop %v: no success after it was back", l.Decoupled != nil)
		}
	}
}

func TestAnAbsentTargetIsNamedInOneLine(t *testing.T) {
	at := listen(t)
	address := at.Addr().String()
	at.Close()
	e, began := startEndpoint(t), time.Now()
	err := sendInto(context.Background(), t.TempDir(), e, someLoad(), address)
	if err == nil || !strings.HasPrefix(err.Error(), "cannot reach "+address) || strings.Contains(err.Error(), "\n") {
		t.Errorf("said %v", err)
	}
	if took := time.Since(began); took < common.ReachLimit {
		t.Errorf("it had %v to begin", took)
	}
}

func TestATargetThatListensLaterIsReached(t *testing.T) {
	at := listen(t)
	d := &dialer{target: at.Addr().String()}
	at.Close()
	pauses := 0
	err := d.await(func() bool {
		if pauses++; pauses == 3 {
			again, err := net.Listen("tcp", d.target)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { again.Close() })
		}
		return true
	})
	if err != nil || pauses != 3 {
		t.Errorf("after %d pauses: %v", pauses, err)
	}
}

func TestOnlyATargetThatRefusesIsTriedAgain(t *testing.T) {
	pauses := 0
	err := (&dialer{target: "127.0.0.1:no-port"}).await(func() bool { pauses++; return true })
	if err == nil || pauses != 0 {
		t.Errorf("after %d pauses: %v", pauses, err)
	}
}

func TestASignalEndsTheWaitForATarget(t *testing.T) {
	at := listen(t)
	address := at.Addr().String()
	at.Close()
	stop, end := context.WithCancel(context.Background())
	end()
	began := time.Now()
	err := sendInto(stop, t.TempDir(), startEndpoint(t), someLoad(), address)
	if took := time.Since(began); err == nil || took >= common.ReachLimit {
		t.Errorf("after %v: %v", took, err)
	}
}

func TestALaterLoadRecordsThatItsTargetIsGone(t *testing.T) {
	for transport, code := range map[string]int{"grpc": int(codes.Unavailable), "zipkin": codeNoAnswer} {
		e := startEndpoint(t)
		at := listen(t)
		target := at.Addr().String()
		g := &generator{folder: t.TempDir(), targets: []string{target}, receiver: e.receiver, stop: context.Background()}
		l := rate(100, 1)
		l.Transport, l.Returns, l.Plan.Spans.Min, *l.DurationS = transport, false, 1, 0.2
		at.Close()
		if err := g.send(1, l); err != nil {
			t.Fatal(err)
		}
		records := recordsOf(t, filepath.Join(g.folder, "traces-1.csv"))
		found := byOutcome(t, records, lastCounters(t, filepath.Join(g.folder, "generator-1.jsonl")))
		if found[sendError] != 20 || len(records) != 20 {
			t.Errorf("%s: %v", transport, found)
		}
		for _, each := range records {
			if each.code != code {
				t.Errorf("%s: %+v", transport, each)
			}
		}
	}
}

func TestASignalEndsALoadWithItsRecords(t *testing.T) {
	for _, l := range []load{someLoad(), rate(200, 1)} {
		e := startEndpoint(t)
		r := startRelay(t, e.grpcAddress)
		l.Plan.Spans.Min, *l.DurationS = 1, 60
		ctx, stop := context.WithTimeout(context.Background(), 300*time.Millisecond)
		folder, began := t.TempDir(), time.Now()
		if err := sendInto(ctx, folder, e, l, r.address); err != nil {
			t.Error(err)
		}
		stop()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
		found := byOutcome(t, recordsOf(t, filepath.Join(folder, "traces-0.csv")), lastCounters(t, filepath.Join(folder, "generator-0.jsonl")))
		if found[receiveTimeout] > 0 {
			t.Errorf("nothing was waited for that long: %v", found)
		}
	}
}

func TestASignalDoesNotHideThatALoadFailed(t *testing.T) {
	e := startEndpoint(t)
	r := startRelay(t, e.grpcAddress)
	folder := t.TempDir()
	// Its records cannot get their name, as on a full disk they cannot be written.
	if err := os.MkdirAll(filepath.Join(folder, "traces-0.csv", "in-the-way"), 0o755); err != nil {
		t.Fatal(err)
	}
	l := someLoad()
	l.Returns, l.Plan.Spans.Min, *l.DurationS = false, 1, 60
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "load-0.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	stop, end := context.WithCancel(context.Background())
	defer end()
	ended := make(chan error, 1)
	go func() { ended <- serve(stop, folder, r.address, "127.0.0.1:0", "127.0.0.1:0") }()
	eventually(t, "a request arrives", func() bool { return r.requests.Load() > 0 })
	end()
	if err := <-ended; err == nil || !strings.HasPrefix(err.Error(), path+": ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("ended with %v", err)
	}
}

func TestALoadIsReplayed(t *testing.T) {
	for _, l := range []load{someLoad(), rate(500, 1)} {
		e := startEndpoint(t)
		r := startRelay(t, e.grpcAddress)
		folder := t.TempDir()
		if err := sendInto(context.Background(), folder, e, l, r.address); err != nil {
			t.Fatal(err)
		}
		first := recordsOf(t, filepath.Join(folder, "traces-0.csv"))
		*l.DurationS = 5 // more than the log has
		l.Coupled, l.Decoupled, l.Replay = nil, nil, &replay{"traces-0.csv", 3}
		again := &generator{folder: folder, targets: []string{r.address}, receiver: e.receiver, stop: context.Background()}
		if err := again.send(1, l); err != nil {
			t.Fatal(err)
		}
		compareReplay(t, first, recordsOf(t, filepath.Join(folder, "traces-1.csv")))
		l.Seed++
		if err := again.send(2, l); err == nil || !strings.Contains(err.Error(), "by this plan and seed") {
			t.Errorf("another seed: said %v", err)
		}
	}
}

// compareReplay checks that the same traces, but for their IDs, were due when they were sent the first time.
func compareReplay(t *testing.T, first, again []record) {
	t.Helper()
	first = slices.DeleteFunc(first, func(r record) bool { return r.sendStart == never })
	slices.SortFunc(first, func(a, b record) int { return int(a.intended + a.sendStart - b.intended - b.sendStart) })
	slices.SortStableFunc(again, func(a, b record) int { return int(a.intended - b.intended) })
	if len(first) != len(again) || len(first) < 50 {
		t.Fatalf("%d traces, replayed %d", len(first), len(again))
	}
	key := func(r record) string {
		return fmt.Sprint(r.worker, r.number, r.spans, r.spanDurationMs, r.attributes, r.risky, r.failed)
	}
	same, ids := map[string]int64{}, map[traceID]bool{}
	for _, r := range first {
		same[key(r)], ids[r.id] = r.intended+r.sendStart-first[0].intended-first[0].sendStart, true
	}
	for _, r := range again {
		due, known := same[key(r)]
		if !known || ids[r.id] || r.intended-again[0].intended != due {
			t.Fatalf("%+v: known %v, due after %d", r, known, due)
		}
	}
}

func TestOnlyTheFirstFailureEndsALoad(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	r, disk := &run{end: end}, errors.New("no space left")
	r.fail(disk)
	r.fail(errors.New("another"))
	if r.err != disk || ctx.Err() == nil {
		t.Errorf("ended with %v", r.err)
	}
}

// openFiles is how many files and connections the program has open.
func openFiles(t *testing.T) int {
	t.Helper()
	found, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

func TestALoadLeavesNothingOpen(t *testing.T) {
	e := startEndpoint(t)
	l := rate(100, 1)
	l.Returns, *l.DurationS = false, 0.1
	before := openFiles(t)
	for range 2 {
		sentBy(t, e, l, e.grpcAddress)
	}
	eventually(t, "all is closed", func() bool { return openFiles(t) <= before })
}
