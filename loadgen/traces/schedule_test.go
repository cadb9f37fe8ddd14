package main

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// all is everything that a schedule has.
func all(next schedule) (found []due) {
	for request, more := next(); more; request, more = next() {
		found = append(found, request)
	}
	return found
}

func TestAFixedRateHasEqualDistances(t *testing.T) {
	d := decoupled{TracesPerS: 1000, Arrivals: "fixed", Connections: 3, TracesPerRequest: 10}
	found := all(d.schedule(1, time.Second))
	if len(found) != 100 {
		t.Fatalf("%d requests", len(found))
	}
	for i, request := range found {
		if want := (due{int64(i) * 1e7, i % 3, uint64(10 * i), 10, unlogged}); request != want {
			t.Errorf("request %d: %+v, want %+v", i, request, want)
		}
	}
}

func TestPoissonArrivalsHaveTheRateAndFollowFromTheSeed(t *testing.T) {
	d := decoupled{TracesPerS: 5000, Arrivals: "poisson", Connections: 7, TracesPerRequest: 1}
	found := all(d.schedule(1, 2*time.Second))
	if math.Abs(float64(len(found))-10_000) > 600 { // six standard deviations
		t.Errorf("%d requests", len(found))
	}
	if !slices.Equal(found, all(d.schedule(1, 2*time.Second))) || slices.Equal(found, all(d.schedule(2, 2*time.Second))) {
		t.Error("arrivals do not follow from the seed")
	}
	if !slices.IsSortedFunc(found, func(a, b due) int { return int(a.after - b.after) }) {
		t.Error("arrivals are not in order")
	}
}

func TestAReplayHasTheLogsSendTimes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traces-0.csv")
	text := recordHeader
	for i, sendStart := range []int64{5000, never, 1000, 3000} {
		r := someRecord()
		r.worker, r.number, r.spans, r.sendStart = i, uint64(10+i), 4+i, sendStart
		text += string(r.append(nil))
	}
	write(t, path, text)
	logged, err := readReplay(path)
	if err != nil {
		t.Fatal(err)
	}
	with := func(spans int32) shape { return shape{spans, 6, 113, 4, 16, 2, true, false} }
	want := []due{{0, 2, 12, 1, with(6)}, {2000, 3, 13, 1, with(7)}, {4000, 0, 10, 1, with(4)}}
	if found := all(replaying(logged, time.Second)); !slices.Equal(found, want) {
		t.Errorf("%+v, want %+v", found, want)
	}
	if found := all(replaying(logged, 4000)); !slices.Equal(found, want[:2]) {
		t.Errorf("with a shorter duration: %+v", found)
	}
}

func TestALogWithNothingToReplayIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traces-0.csv")
	write(t, path, recordHeader)
	if _, err := readReplay(path); err == nil || err.Error() != "replay.log: traces-0.csv has no trace that was sent" {
		t.Errorf("said %v", err)
	}
	if _, err := readReplay(path + "x"); err == nil || !strings.HasPrefix(err.Error(), "replay.log: open ") {
		t.Errorf("said %v", err)
	}
}
