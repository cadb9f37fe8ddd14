package main

import "time"

// grace is how much of the time without spans is made up for. Spans come late where a busy machine gives their sender, or
// the sink, no CPU for a while: without it the sink would then be slower than its rate.
const grace = 100 * time.Millisecond

// servedAt returns when spans are served whose turn it is now. Those before them were served at `free`; zero: there
// were none.
func servedAt(free, now time.Time, spans int, perS float64) time.Time {
	if free.IsZero() {
		free = now
	}
	if earliest := now.Add(-grace); free.Before(earliest) {
		free = earliest
	}
	return free.Add(time.Duration(float64(spans) / perS * float64(time.Second)))
}
