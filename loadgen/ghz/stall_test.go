package main

import (
	"slices"
	"sync"
	"testing"
	"time"

	"tollbooth/internal/requests"
)

const (
	latency    = 10 * time.Millisecond
	stallAfter = 700 * time.Millisecond
	stallUntil = 1200 * time.Millisecond
)

// stalling is an answer after 10 ms, of a service that stalls once for half a second.
func stalling() func(uint32) error {
	began := sync.OnceValue(time.Now)
	return func(uint32) error {
		if since := time.Since(began()); since > stallAfter && since < stallUntil {
			time.Sleep(stallUntil - since)
		}
		time.Sleep(latency)
		return nil
	}
}

func percentile(rows []requests.Row, percent int, since func(requests.Row) int64) time.Duration {
	taken := make([]int64, len(rows))
	for i, row := range rows {
		taken[i] = row.End - since(row)
	}
	slices.Sort(taken)
	return time.Duration(taken[len(taken)*percent/100])
}

// The same service and the same stall; docs/explanation/open-and-closed-loop.md shows the table that this test logs.
func TestWhoSeesAStall(t *testing.T) {
	fromStart := func(r requests.Row) int64 { return r.Start }
	fromIntended := func(r requests.Row) int64 { return r.Intended }
	const seen = 200 * time.Millisecond // far from 10 ms as from 500 ms
	for name, c := range map[string]struct {
		perS                      *float64
		concurrency               *int
		seenStarted, seenIntended bool
	}{
		"closed loop":       {nil, pointer(4), false, false},
		"open loop":         {pointer(200.0), nil, true, true},
		"bounded open loop": {pointer(200.0), pointer(4), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := to(serve(t, stalling()), 500)
			l.RequestsPerS, l.Concurrency = c.perS, c.concurrency
			rows := sendAll(t, l)
			started, intended := percentile(rows, 95, fromStart), percentile(rows, 95, fromIntended)
			t.Logf("p95 from the start %v, from the intended start %v", started, intended)
			if (started > seen) != c.seenStarted || (intended > seen) != c.seenIntended {
				t.Errorf("saw %v and %v", started, intended)
			}
		})
	}
}
