package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	common "tollbooth/internal/load"
)

const (
	// A load larger than this is a mistake: 2,400 requests/s for 20 minutes. Its rows take 190 MB.
	maxRequests  = 3_000_000
	maxDurationS = 3600
	maxPerS      = 100_000
	maxSlices    = 10_000
)

// load is what a load-<n>.json says; README.md describes each field. nil is null, or left out.
type load struct {
	common.Common
	Arrivals         string   `json:"arrivals"`
	Routes           []string `json:"routes"`
	Seed             uint64   `json:"seed"`
	ErrorProbability *float64 `json:"error_probability"`
	TraceFlags       *string  `json:"trace_flags"`
	StartsNs         []int64  `json:"starts_ns"`
	Concurrency      *int     `json:"concurrency"`
}

// Check returns the first rule that the load breaks.
func (l load) Check() error {
	if err := l.Common.Check(); err != nil || l.Last() {
		return err
	}
	if err := l.checkLoop(); err != nil {
		return err
	}
	return cmp.Or(
		common.CheckRoutes(l.Routes),
		common.Broken(l.ErrorProbability != nil && (*l.ErrorProbability < 0 || *l.ErrorProbability > 1),
			"error_probability: must be from 0 to 1"),
		common.Broken(l.TraceFlags != nil && *l.TraceFlags != "00" && *l.TraceFlags != "01",
			`trace_flags: must be "00" or "01"`),
		l.checkSize(),
		l.checkSlices(),
	)
}

// checkLoop checks the fields that say how the load is sent: a closed loop's, or an open loop's.
func (l load) checkLoop() error {
	if l.Concurrency != nil {
		without := func(field string, given bool) error {
			return common.Broken(given, field+": must not be given with concurrency")
		}
		return cmp.Or(
			common.CheckConcurrency(*l.Concurrency),
			without("requests_per_s", l.RequestsPerS != nil),
			without("arrivals", l.Arrivals != ""),
			without("starts_ns", l.StartsNs != nil),
		)
	}
	return cmp.Or(
		common.Broken(l.RequestsPerS == nil || *l.RequestsPerS > maxPerS,
			fmt.Sprintf("requests_per_s: must be given, at most %d, or else concurrency", maxPerS)),
		common.Broken(l.Arrivals != "fixed" && l.Arrivals != "poisson", `arrivals: must be "fixed" or "poisson"`),
	)
}

// checkSize bounds a load in count and in time, as far as each is known before it is sent.
func (l load) checkSize() error {
	count, lastsS := 0.0, 0.0
	if l.Requests != nil {
		count = float64(*l.Requests) * float64(l.parts())
	} else {
		lastsS = *l.DurationS
	}
	switch {
	case l.Concurrency != nil: // its rate is a result
	case l.Requests != nil:
		lastsS = float64(*l.Requests) / *l.RequestsPerS
	default:
		count = lastsS * *l.RequestsPerS
	}
	return cmp.Or(
		common.Broken(lastsS > maxDurationS, fmt.Sprintf("duration: is %.0f s, at most %d s", lastsS, maxDurationS)),
		common.Broken(count > maxRequests, fmt.Sprintf("requests: are %.0f, at most %d", count, maxRequests)),
	)
}

// checkSlices checks what does not depend on the time at which the load is sent.
func (l load) checkSlices() error {
	if l.StartsNs == nil {
		return nil
	}
	if len(l.StartsNs) == 0 || len(l.StartsNs) > maxSlices {
		return fmt.Errorf("starts_ns: must have from 1 to %d times", maxSlices)
	}
	if l.Requests == nil {
		return errors.New("duration_s: must not be given with starts_ns, which needs requests")
	}
	lasts := common.Fixed(uint64(*l.Requests-1), *l.RequestsPerS)
	for i := 1; i < len(l.StartsNs); i++ {
		if l.StartsNs[i] <= l.StartsNs[i-1] {
			return fmt.Errorf("starts_ns: time %d of %d is not after the one before it", i+1, len(l.StartsNs))
		}
		if gap := time.Duration(l.StartsNs[i] - l.StartsNs[i-1]); gap <= lasts {
			return fmt.Errorf("starts_ns: slice %d lasts %v, but the next one starts after %v", i, lasts, gap)
		}
	}
	return nil
}

// checkStarts checks that the slices can be sent in time. A load without slices starts at once.
func (l load) checkStarts(now int64) error {
	if l.StartsNs == nil {
		return nil
	}
	first, last := l.StartsNs[0], l.StartsNs[len(l.StartsNs)-1]
	lateS, lastS := time.Duration(now-first).Seconds(), time.Duration(last-now).Seconds()
	return cmp.Or(
		common.Broken(first < now, fmt.Sprintf("starts_ns: the first slice's start was %.3f s ago", lateS)),
		common.Broken(lastS > maxDurationS,
			fmt.Sprintf("starts_ns: the last slice starts in %.0f s, at most %d s", lastS, maxDurationS)),
	)
}

// parts is how many times the load sends its requests: once, or once per slice.
func (l load) parts() int { return max(1, len(l.StartsNs)) }
