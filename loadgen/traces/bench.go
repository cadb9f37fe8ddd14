package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	common "tollbooth/internal/load"
)

const (
	benchRuns = 5
	// A request of the throughput runs: as large as those of telemetrygen at its best.
	benchTracesPerRequest = 800
	benchFor              = 10 * time.Second
	// The ladder's rates grow by this factor, to the highest rate of a load.
	ladderStep = 1.25
	ladderFor  = 5 * time.Second
	heldShare  = 0.98 // of a rate that is held
	heldWithin = 2 * time.Millisecond
)

// What the generator must reach.
const (
	wantedTracesPerS    = 50_000
	wantedTimesPerCPU   = 3
	wantedUnbatchedPerS = 5000
	wantedWorkers       = 10_000
	mostMemoryMiB       = 500
	mostGrowth          = 1.05
)

// A row's name has so much room.
const nameWidth = 58

var errFailed = errors.New("at least one value is out of its bound")

// table prints what was measured, and remembers whether anything failed.
type table struct {
	out    io.Writer
	failed bool
}

func (t *table) row(name string, value, bound float64, unit string, pass bool) {
	verdict := "PASS"
	if !pass {
		verdict, t.failed = "FAIL", true
	}
	fmt.Fprintf(t.out, "%-*s %12.4g %12.4g %-10s %s\n", nameWidth, name, value, bound, unit, verdict)
}

func (t *table) atLeast(name string, value, bound float64, unit string) {
	t.row(name, value, bound, unit, value >= bound)
}

func (t *table) atMost(name string, value, bound float64, unit string) {
	t.row(name, value, bound, unit, value <= bound)
}

func (t *table) below(name string, value, bound float64, unit string) {
	t.row(name, value, bound, unit, value < bound)
}

func (t *table) note(form string, values ...any) { fmt.Fprintf(t.out, "  "+form+"\n", values...) }

// bench is the generator's benchmark. Its programs are paths.
type bench struct {
	table
	self, sink, telemetrygen string
	steadyFor                time.Duration

	// How the two generators are run. Tests have them come to made-up numbers.
	send     func(...load) (ran, error)
	opponent func(settings, time.Duration) (ran, error)
}

// benchmark measures what README.md says. Its error is errFailed where a value is out of its bound.
func benchmark(arguments []string, self string, out io.Writer) error {
	b := &bench{table: table{out: out}, self: self}
	b.send, b.opponent = b.runSelf, b.runTelemetrygen
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&b.sink, "sink", "sink", "the lab's sink")
	flags.StringVar(&b.telemetrygen, "telemetrygen", "telemetrygen", "OpenTelemetry's generator")
	flags.DurationVar(&b.steadyFor, "steady-for", 10*time.Minute, "how long memory is watched")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	stop, err := startSink(b.sink)
	if err != nil {
		return err
	}
	defer stop()
	return b.measure()
}

// measure prints the table. Its error is errFailed where a value is out of its bound.
func (b *bench) measure() error {
	fmt.Fprintf(b.out, "%-*s %12s %12s %-10s\n", nameWidth, "name", "value", "bound", "unit")
	for _, measure := range []func() error{b.throughput, b.unbatched, b.delay, b.replays, b.workers, b.steady} {
		if err := measure(); err != nil {
			return err
		}
	}
	if b.failed {
		return errFailed
	}
	return nil
}

// atRate is an open loop of traces of ten spans, which the sink keeps.
func atRate(tracesPerS float64, tracesPerRequest, connections int, lasts time.Duration) load {
	return load{
		Common: common.Ending(lasts.Seconds()), Seed: 1, Transport: "grpc", Compression: "none", SendTimeoutMs: 5000, ReceiveTimeoutMs: 1000,
		Plan: plan{Spans: bounds{10, 10}, Attributes: bounds{2, 2}, AttributeBytes: bounds{16, 16}, Clients: bounds{1, 1}},
		Decoupled: &decoupled{
			TracesPerS: tracesPerS, Arrivals: "fixed", Connections: connections, TracesPerRequest: tracesPerRequest,
		},
	}
}

// throughput compares with telemetrygen at its best settings, in alternating runs.
func (b *bench) throughput() error {
	best, err := b.bestOpponent()
	if err != nil {
		return err
	}
	var rates, times []float64
	for range benchRuns {
		own, err := b.send(atRate(1.02*wantedTracesPerS, benchTracesPerRequest, 2, benchFor))
		if err != nil {
			return err
		}
		other, err := b.opponent(best, benchFor)
		if err != nil {
			return err
		}
		rates = append(rates, own.tracesPerS)
		times = append(times, own.perCPUSecond()/other.perCPUSecond())
		b.note("traces/s and traces per CPU-s: %.0f, %.0f; telemetrygen %.0f, %.0f (delivered %.0f/s); bytes per span %.0f; %.0f",
			own.tracesPerS, own.perCPUSecond(), other.tracesPerS, other.perCPUSecond(), other.deliveredPerS, own.spanBytes, other.spanBytes)
	}
	b.note("%d traces per request; telemetrygen: %d workers, batches of %d spans", benchTracesPerRequest, best.workers, best.batch)
	b.atLeast("traces of 10 spans per second, median of 5", median(rates), wantedTracesPerS, "1/s")
	b.atLeast("traces per CPU-second to telemetrygen's, median of 5", median(times), wantedTimesPerCPU, "times")
	return nil
}

// bestOpponent finds the settings with which telemetrygen needs least CPU for a trace.
func (b *bench) bestOpponent() (best settings, err error) {
	most := 0.0
	for _, tried := range []settings{{1, 512}, {1, 2048}, {1, 8192}, {2, 8192}} {
		found, err := b.opponent(tried, ladderFor)
		if err != nil {
			return best, err
		}
		if found.perCPUSecond() > most {
			best, most = tried, found.perCPUSecond()
		}
	}
	return best, nil
}

// unbatched sends each trace as a request of its own, over many connections.
func (b *bench) unbatched() error {
	found, err := b.send(atRate(1.1*wantedUnbatchedPerS, 1, 1000, benchFor))
	if err != nil {
		return err
	}
	b.note("one trace per request: %.0f traces per CPU-s, delay p99 %v", found.perCPUSecond(), found.delay(0.99))
	b.atLeast("traces/s, one per request, 1,000 connections", found.tracesPerS, wantedUnbatchedPerS, "1/s")
	b.atMost("failed traces, one per request", float64(found.failed), 0, "")
	return nil
}

// delay is how late traces are sent at half of the highest rate. Without such a rate there is none.
func (b *bench) delay() error {
	const name = "scheduling delay p99 at half the highest rate"
	highest, least, err := b.ladder()
	if err != nil {
		return err
	}
	if highest == 0 {
		b.note("no rate held: not even %d traces/s", wantedTracesPerS)
		b.below(name, math.Inf(1), ms(heldWithin), "ms")
		return nil
	}
	b.note("highest rate held: %s%.0f traces/s", least, highest)
	found, err := b.send(atRate(highest/2, benchTracesPerRequest, 2, benchFor))
	if err != nil {
		return err
	}
	b.below(name, ms(found.delay(0.99)), ms(heldWithin), "ms")
	b.atMost("failed traces at half the highest rate", float64(found.failed), 0, "")
	return nil
}

// ladder finds the highest rate that is held; 0: none. If the last rate of the ladder is held, that is no limit, as
// `least` then says.
func (b *bench) ladder() (highest float64, least string, err error) {
	for perS := float64(wantedTracesPerS); perS <= maxTracesPerS; perS *= ladderStep {
		found, err := b.send(atRate(perS, benchTracesPerRequest, 2, ladderFor))
		if err != nil || !found.held(perS) {
			return highest, "", err
		}
		highest = perS
	}
	return highest, "at least ", nil
}

// replays sends the traces of a log again, when they were sent.
func (b *bench) replays() error {
	first := atRate(2500, 1, 100, benchFor)
	first.Decoupled.Arrivals = "poisson"
	again := first
	again.Decoupled, again.Replay = nil, &replay{"traces-0.csv", 100}
	found, err := b.send(first, again)
	if err != nil {
		return err
	}
	b.below("replay of 2,500 traces/s: send time p99", ms(found.delay(0.99)), ms(heldWithin), "ms")
	b.atMost("failed traces of the replay", float64(found.failed), 0, "")
	return nil
}

// workers is the memory of many workers that wait out their traces' durations.
func (b *bench) workers() error {
	l := atRate(1, 1, 1, 30*time.Second)
	l.Plan.SpanDurationMs = bounds{0, 400}
	l.Decoupled, l.Coupled = nil, &coupled{Workers: wantedWorkers, WorkersPerS: 1000, WaitOut: true}
	found, err := b.send(l)
	if err != nil {
		return err
	}
	b.note("the workers sent %.0f traces/s", found.tracesPerS)
	b.atLeast("workers that sent", float64(found.workers), wantedWorkers, "")
	b.atLeast("connections that the workers opened", float64(found.connections), wantedWorkers, "")
	b.atMost("failed traces of the workers", float64(found.failed), 0, "")
	b.below("memory of 10,000 workers, highest", found.memoryMiB, mostMemoryMiB, "MiB")
	return nil
}

// steady watches the memory of a long load.
func (b *bench) steady() error {
	found, err := b.send(atRate(wantedUnbatchedPerS, 10, 10, b.steadyFor))
	if err != nil {
		return err
	}
	early := found.rss[min(len(found.rss)-1, len(found.rss)/5)]
	late := found.rss[len(found.rss)-1]
	b.note("memory after a fifth of %v: %.1f MiB, at the end: %.1f MiB", b.steadyFor, early, late)
	b.atMost("memory at the end to memory after a fifth", late/early, mostGrowth, "times")
	b.atMost("failed traces while memory was watched", float64(found.failed), 0, "")
	return nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
