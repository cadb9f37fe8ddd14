package main

import (
	"testing"
	"time"

	"github.com/bojand/ghz/runner"

	"tollbooth/internal/requests"
)

func TestStatusDistinguishesAnswersFromNone(t *testing.T) {
	for _, c := range []struct {
		code    string
		latency time.Duration
		want    int
	}{
		{"OK", 0, 200},
		{"Internal", 0, 613},
		{"Unavailable", 0, 614},
		{"DeadlineExceeded", time.Second, 604}, // the other side's deadline
		{"DeadlineExceeded", timeout, 0},
		{"Canceled", 0, 0},
		{"", 0, 0},
	} {
		if got := statusOf(runner.ResultDetail{Status: c.code, Latency: c.latency}); got != c.want {
			t.Errorf("%q after %v: %d, want %d", c.code, c.latency, got, c.want)
		}
	}
}

func TestTheFirstToStartIsTheFirstThatWasDue(t *testing.T) {
	due := func(i uint64) int64 { return int64(i) * 10 }
	for name, c := range map[string]struct{ starts, want []int64 }{
		"on time":         {[]int64{1, 12, 21, 30}, []int64{0, 10, 20, 30}},
		"late, caught up": {[]int64{1, 25, 26, 31}, []int64{0, 10, 20, 30}},
		"tried again":     {[]int64{1, 2, 12, 21, 30}, []int64{0, 0, 10, 20, 30}},
		"again at last":   {[]int64{1, 12, 21, 30, 32}, []int64{0, 10, 20, 30, 30}},
	} {
		var rows []requests.Row
		for _, start := range c.starts {
			rows = append([]requests.Row{{Start: start}}, rows...) // ghz's order is another
		}
		intend(rows, 4, due)
		for i, row := range rows {
			if row.Start != c.starts[i] || row.Intended != c.want[i] {
				t.Errorf("%s: started %d, intended %d, want %d and %d", name, row.Start, row.Intended, c.starts[i], c.want[i])
			}
		}
	}
}

func TestRowsAreInOrderOfEndingWithTheirTimes(t *testing.T) {
	anchor := time.Unix(100, 0)
	rows := rowsOf([]runner.ResultDetail{
		{Timestamp: anchor.Add(30), Latency: 10, Status: "OK"},
		{Timestamp: anchor.Add(20), Latency: 15, Status: "Internal"},
	}, "work", anchor, nil)
	base := anchor.UnixNano()
	want := []requests.Row{
		{Target: "work", Intended: base + 5, Start: base + 5, End: base + 20, Status: 613},
		{Target: "work", Intended: base + 20, Start: base + 20, End: base + 30, Status: 200},
	}
	if len(rows) != 2 || rows[0] != want[0] || rows[1] != want[1] {
		t.Errorf("got %v, want %v", rows, want)
	}
}
