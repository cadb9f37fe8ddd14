package main

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	delayRow    = "scheduling delay p99 at half the highest rate"
	benchedRows = 14
	// The last of the ladder.
	highestRate = 1_776_357 // traces/s
)

// kind says which run of the benchmark a load is.
func kind(l load) string {
	switch {
	case l.Replay != nil:
		return "replay"
	case l.Coupled != nil:
		return "workers"
	}
	return map[int]string{1: "unbatched", 10: "steady", benchTracesPerRequest: "batched"}[l.Decoupled.TracesPerRequest]
}

// benchmarked is what the benchmark prints, and how it ends, with made-up numbers: those of a generator that holds
// every rate and has every value within its bound, but for a change.
func benchmarked(t *testing.T, change func(load, *ran)) (string, error) {
	t.Helper()
	var out bytes.Buffer
	b := &bench{table: table{out: &out}, steadyFor: time.Minute}
	b.send = func(loads ...load) (ran, error) {
		for _, l := range loads {
			if err := l.Check(); err != nil {
				t.Errorf("the generator would not take a load: %v", err)
			}
		}
		last := loads[len(loads)-1]
		made := ran{
			traces: 240_000, cpuS: 1, late: []int64{1_999_999}, memoryMiB: 499, rss: []float64{80, 100, 100, 100, 105},
			workers: 10_000, connections: 10_000,
		}
		if last.Decoupled != nil {
			made.tracesPerS = last.Decoupled.TracesPerS
		}
		change(last, &made)
		return made, nil
	}
	b.opponent = func(settings, time.Duration) (ran, error) { return ran{traces: 80_000, cpuS: 1}, nil }
	err := b.measure()
	return out.String(), err
}

// rowsWith are the names of the rows with a verdict.
func rowsWith(verdict, out string) (found []string) {
	for _, line := range strings.Split(out, "\n") {
		if strings.HasSuffix(line, " "+verdict) {
			found = append(found, strings.TrimSpace(line[:nameWidth]))
		}
	}
	return found
}

func TestABenchmarkPassesIfEveryValueIsWithinItsBound(t *testing.T) {
	out, err := benchmarked(t, func(load, *ran) {})
	passed, failed := rowsWith("PASS", out), rowsWith("FAIL", out)
	if err != nil || len(passed) != benchedRows || len(failed) > 0 {
		t.Errorf("ended with %v, and of %d rows these failed: %q", err, benchedRows, failed)
	}
}

func TestEachValueOutOfItsBoundFailsTheBenchmark(t *testing.T) {
	rows := map[string]bool{}
	for _, c := range []struct {
		row, kind string
		change    func(*ran)
	}{
		{"traces of 10 spans per second, median of 5", "batched", func(r *ran) { r.tracesPerS = min(r.tracesPerS, 49_999) }},
		{"traces per CPU-second to telemetrygen's, median of 5", "batched", func(r *ran) { r.cpuS = 1.01 }},
		{"traces/s, one per request, 1,000 connections", "unbatched", func(r *ran) { r.tracesPerS = 4999 }},
		{"failed traces, one per request", "unbatched", func(r *ran) { r.failed = 1 }},
		{delayRow, "batched", func(r *ran) { r.late = []int64{2_000_000} }},
		{delayRow, "batched", func(r *ran) { r.late = nil }},
		{"failed traces at half the highest rate", "batched", func(r *ran) {
			r.failed = zeroOrOne(math.Abs(2*r.tracesPerS-highestRate) < 1)
		}},
		{"replay of 2,500 traces/s: send time p99", "replay", func(r *ran) { r.late = []int64{2_000_000} }},
		{"failed traces of the replay", "replay", func(r *ran) { r.failed = 1 }},
		{"workers that sent", "workers", func(r *ran) { r.workers = 9999 }},
		{"connections that the workers opened", "workers", func(r *ran) { r.connections = 9999 }},
		{"failed traces of the workers", "workers", func(r *ran) { r.failed = 1 }},
		{"memory of 10,000 workers, highest", "workers", func(r *ran) { r.memoryMiB = 500 }},
		{"memory at the end to memory after a fifth", "steady", func(r *ran) { r.rss = []float64{80, 100, 100, 100, 105.1} }},
		{"failed traces while memory was watched", "steady", func(r *ran) { r.failed = 1 }},
	} {
		out, err := benchmarked(t, func(l load, made *ran) {
			if kind(l) == c.kind {
				c.change(made)
			}
		})
		if failed := rowsWith("FAIL", out); !errors.Is(err, errFailed) || !slices.Equal(failed, []string{c.row}) {
			t.Errorf("%s: ended with %v, and these failed: %q", c.row, err, failed)
		}
		rows[c.row] = true
	}
	if len(rows) != benchedRows {
		t.Errorf("%d of %d rows can fail", len(rows), benchedRows)
	}
}

func TestARunThatCannotBeMeasuredEndsTheBenchmark(t *testing.T) {
	gone := errors.New("the sink is gone")
	b := &bench{table: table{out: &bytes.Buffer{}}}
	b.opponent = func(settings, time.Duration) (ran, error) { return ran{}, gone }
	if err := b.measure(); !errors.Is(err, gone) {
		t.Errorf("ended with %v", err)
	}
}

func TestTheLadderEndsAtARateThatIsNotHeld(t *testing.T) {
	for _, c := range []struct {
		says   string
		most   float64 // traces/s
		failed int     // of a load above that
		asked  float64 // of the last load: half the highest rate
	}{
		{says: "highest rate held: 97656 traces/s", most: 100_000, asked: 48_828.125},
		{says: "highest rate held: 62500 traces/s", most: 77_000, failed: 1, asked: 31_250},
		{says: "highest rate held: at least 1776357 traces/s", most: math.Inf(1), asked: 888_178.42},
		{says: "no rate held: not even 50000 traces/s", most: 48_999, asked: 50_000},
	} {
		asked := 0.0
		out, _ := benchmarked(t, func(l load, made *ran) {
			if kind(l) != "batched" {
				return
			}
			asked = l.Decoupled.TracesPerS
			made.tracesPerS = min(asked, c.most)
			if asked > c.most {
				made.failed = c.failed
			}
		})
		passed := slices.Contains(rowsWith("PASS", out), delayRow)
		if !strings.Contains(out, "  "+c.says+"\n") || math.Abs(asked-c.asked) > 0.01 || passed != (c.most >= 50_000) {
			t.Errorf("want %q and a last load of %v traces/s, which was %v:\n%s", c.says, c.asked, asked, out)
		}
	}
}

func TestARateIsNotHeldIfATraceFailedOrNothingCame(t *testing.T) {
	for name, c := range map[string]struct {
		found ran
		want  bool
	}{
		"all":        {ran{tracesPerS: 1000}, true},
		"98 %":       {ran{tracesPerS: 980}, true},
		"less":       {ran{tracesPerS: 979}, false},
		"one failed": {ran{tracesPerS: 1000, failed: 1}, false},
		"nothing":    {ran{tracesPerS: math.NaN()}, false},
	} {
		if c.found.held(1000) != c.want {
			t.Errorf("%s: held %v", name, !c.want)
		}
	}
}

func TestARunIsReadFromItsRecords(t *testing.T) {
	const second = int64(time.Second)
	folder, text := t.TempDir(), recordHeader
	for i, ended := range []outcome{success, sendError, success, success, sendTimeout, success, receiveTimeout, shutdown} {
		r := someRecord()
		r.outcome, r.worker = ended, i%3
		r.intended, r.sendStart, r.sendEnd = r.intended-int64(i)*second, int64(i)*1_000_000, 3*second
		if ended == sendError { // it was not sent
			r.sendStart, r.sendEnd = never, never
		}
		text += string(r.append(nil))
	}
	write(t, filepath.Join(folder, "traces-1.csv"), text)
	write(t, filepath.Join(folder, "generator-1.jsonl"), `{"format":"tollbooth.generator"}`+"\n"+
		`{"connections_opened":1,"rss_bytes":1048576}`+"\n"+`{"connections_opened":7,"rss_bytes":3145728}`+"\n")
	var found ran
	if err := found.read(folder, 1); err != nil {
		t.Fatal(err)
	}
	// The successes are 0, 2, 3 and 5. They were due within 5 s, and the last of them took 3 s.
	if found.tracesPerS != 0.5 || found.failed != 3 || found.workers != 2 || found.connections != 7 {
		t.Errorf("read %+v", found)
	}
	if !slices.Equal(found.late, []int64{0, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6}) || !slices.Equal(found.rss, []float64{1, 3}) {
		t.Errorf("late by %d, memory %v", found.late, found.rss)
	}
	if found.delay(0.5) != 4*time.Millisecond || found.delay(0.99) != 7*time.Millisecond {
		t.Errorf("delays %v and %v", found.delay(0.5), found.delay(0.99))
	}
}

func TestARunWithoutRecordsIsAnError(t *testing.T) {
	folder := t.TempDir()
	var found ran
	if err := found.read(folder, 0); err == nil {
		t.Error("read without its log")
	}
	write(t, filepath.Join(folder, "traces-0.csv"), recordHeader)
	if err := found.read(folder, 0); err == nil {
		t.Error("read without its counters")
	}
}
