package main

import (
	"cmp"
	"fmt"
	"regexp"

	common "tollbooth/internal/load"
)

const (
	// A load larger than this is a mistake: 2,400 requests/s for 20 minutes. Its rows take 190 MB.
	maxRequests  = 3_000_000
	maxDurationS = 3600
	maxPerS      = 100_000
	maxInFlight  = 10_000
)

// A route goes into the request line as it is.
var routeForm = regexp.MustCompile(`^[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*$`)

// load is what a load-<n>.json says; README.md describes each field. nil is null, or left out.
type load struct {
	common.Common
	Arrivals         string   `json:"arrivals"`
	Routes           []string `json:"routes"`
	Seed             uint64   `json:"seed"`
	ErrorProbability *float64 `json:"error_probability"`
	MaxInFlight      *int     `json:"max_in_flight"`
}

// Check returns the first rule that the load breaks.
func (l load) Check() error {
	if err := l.Common.Check(); err != nil || l.Last() {
		return err
	}
	return cmp.Or(
		common.Broken(l.RequestsPerS == nil || *l.RequestsPerS > maxPerS,
			fmt.Sprintf("requests_per_s: must be given, at most %d", maxPerS)),
		common.Broken(l.Arrivals != "fixed" && l.Arrivals != "poisson", `arrivals: must be "fixed" or "poisson"`),
		common.Broken(len(l.Routes) == 0, "routes: must have at least one"),
		l.checkRoutes(),
		common.Broken(l.ErrorProbability != nil && (*l.ErrorProbability < 0 || *l.ErrorProbability > 1),
			"error_probability: must be from 0 to 1"),
		common.Broken(l.MaxInFlight != nil && (*l.MaxInFlight < 1 || *l.MaxInFlight > maxInFlight),
			fmt.Sprintf("max_in_flight: must be from 1 to %d", maxInFlight)),
		l.checkSize(),
	)
}

func (l load) checkRoutes() error {
	for _, route := range l.Routes {
		if !routeForm.MatchString(route) {
			return fmt.Errorf("routes: %q is not a path without its first slash", route)
		}
	}
	return nil
}

// checkSize bounds a load in count and in time.
func (l load) checkSize() error {
	if l.RequestsPerS == nil {
		return nil
	}
	count, lastsS := 0.0, 0.0
	if l.Requests != nil {
		count, lastsS = float64(*l.Requests), float64(*l.Requests) / *l.RequestsPerS
	} else if l.DurationS != nil {
		count, lastsS = *l.DurationS**l.RequestsPerS, *l.DurationS
	}
	return cmp.Or(
		common.Broken(lastsS > maxDurationS, fmt.Sprintf("duration: is %.0f s, at most %d s", lastsS, maxDurationS)),
		common.Broken(count > maxRequests, fmt.Sprintf("requests: are %.0f, at most %d", count, maxRequests)),
	)
}

// inFlight is how many requests may wait for an answer at the same time.
func (l load) inFlight() int {
	if l.MaxInFlight == nil {
		return maxInFlight
	}
	return *l.MaxInFlight
}
