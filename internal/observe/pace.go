package observe

import "time"

// pace is a grid of times one interval apart, on the monotonic clock.
type pace struct {
	start    time.Time
	interval time.Duration
	last     int64 // the last point of the grid that was taken
}

func newPace(start time.Time, interval time.Duration) pace {
	return pace{start: start, interval: interval, last: -1}
}

// take reports whether a point of the grid is due since the last one taken, and how many were skipped before it:
// those are not made up for.
func (p *pace) take(now time.Time) (due bool, missed int64) {
	point := int64(now.Sub(p.start) / p.interval)
	if point <= p.last {
		return false, 0
	}
	missed = point - p.last - 1
	p.last = point
	return true, missed
}

// next is the first point of the grid that was not taken.
func (p *pace) next() time.Time {
	return p.start.Add(time.Duration(p.last+1) * p.interval)
}
