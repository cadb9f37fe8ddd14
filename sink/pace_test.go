package main

import (
	"testing"
	"time"
)

func TestSpansThatComeFasterWaitInLine(t *testing.T) {
	var p pace
	now := time.Unix(1_700_000_000, 0)
	for _, c := range []struct {
		after time.Duration
		spans int
		want  time.Duration
	}{
		{0, 100, 100 * time.Millisecond},
		{0, 50, 150 * time.Millisecond},
		{100 * time.Millisecond, 50, 100 * time.Millisecond},
		{time.Second, 0, 0},
		{2 * time.Second, 10, 0},                      // what was not used just before is made up for
		{2 * time.Second, 110, 20 * time.Millisecond}, // what was not used earlier is lost
	} {
		if got := p.wait(now.Add(c.after), c.spans, 1000); got != c.want {
			t.Errorf("%d spans after %v wait %v, want %v", c.spans, c.after, got, c.want)
		}
	}
}

func TestSpansThatGiveUpHoldNobodyBack(t *testing.T) {
	var p pace
	now := time.Unix(1_700_000_000, 0)
	p.wait(now, 100, 1000)
	p.wait(now, 200, 1000)
	p.giveBack(200, 1000)
	if got := p.wait(now, 50, 1000); got != 150*time.Millisecond {
		t.Errorf("50 spans behind 100 wait %v", got)
	}
}

func TestALimitedSinkAnswersAtItsRate(t *testing.T) {
	for name, r := range requests() {
		t.Run(name, func(t *testing.T) {
			s := start(t, limited, time.Second)
			began := time.Now()
			for range 5 {
				if got := outcome(s.send(r)); got != "accepted" {
					t.Errorf("answer is %s", got)
				}
			}
			// Fifteen spans at 100 per second.
			if took := time.Since(began); took < 150*time.Millisecond {
				t.Errorf("it took %v", took)
			}
			s.expectSpans(15, 0)
		})
	}
}
