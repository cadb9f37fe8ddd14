package main

import (
	"time"

	common "tollbooth/internal/load"
)

// schedule is an open loop's: request i is due i/perS seconds after the first, whatever became of those before it.
// ghz calls it before each request: how long to wait. ghz's own pacer would do the same, but hide when it began.
type schedule struct {
	perS     float64
	requests uint64
	began    time.Time
}

// Pace returns how long to wait until the next request, after so many, and whether there is none left.
func (s *schedule) Pace(_ time.Duration, sent uint64) (time.Duration, bool) {
	if sent == 0 {
		s.began = time.Now()
	}
	return time.Until(s.due(sent)), sent >= s.requests
}

// Rate is the other method of ghz's pacer.
func (s *schedule) Rate(time.Duration) float64 { return s.perS }

func (s *schedule) due(request uint64) time.Time {
	return s.began.Add(common.Fixed(request, s.perS))
}
