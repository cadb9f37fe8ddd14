package observe

import (
	"testing"
	"time"
)

func TestPointsPassedOverAreCountedAndNotMadeUpFor(t *testing.T) {
	start := time.Now()
	p := newPace(start, 100*time.Millisecond)
	for _, step := range []struct {
		afterMs, wantMissed, wantNextMs int64
		wantDue                         bool
	}{
		{0, 0, 100, true},
		{99, 0, 100, false},
		{100, 0, 200, true},
		{299, 0, 300, true},   // late, but within its interval
		{650, 3, 700, true},   // 300, 400 and 500 were passed over
		{700, 0, 800, true},   // the grid has not moved
		{700, 0, 800, false},  // once each
		{1700, 9, 1800, true}, // 800 to 1600
	} {
		due, missed := p.take(start.Add(time.Duration(step.afterMs) * time.Millisecond))
		if due != step.wantDue || missed != step.wantMissed {
			t.Errorf("after %d ms: due %v, %d missed", step.afterMs, due, missed)
		}
		if next := p.next().Sub(start).Milliseconds(); next != step.wantNextMs {
			t.Errorf("after %d ms: next is %d", step.afterMs, next)
		}
	}
}
