package main

import (
	"cmp"
	"fmt"
	"regexp"

	common "tollbooth/internal/load"
)

const (
	maxConcurrency = 1000
	maxRequests    = 1_500_000 // rows stay in memory until the end
	maxDurationS   = 600       // at 2,500 requests/s
)

// A route goes into a URL as it is.
var routeForm = regexp.MustCompile(`^[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*$`)

// load is what a load-<n>.json says; README.md describes each field. nil is null, or left out.
type load struct {
	common.Common
	Concurrency int      `json:"concurrency"`
	Routes      []string `json:"routes"`
}

// Check returns the first rule that the load breaks.
func (l load) Check() error {
	if err := l.Common.Check(); err != nil || l.Last() {
		return err
	}
	for _, route := range l.Routes {
		if !routeForm.MatchString(route) {
			return fmt.Errorf("routes: %q is not a path without its first slash", route)
		}
	}
	return cmp.Or(
		common.Broken(l.RequestsPerS != nil, "requests_per_s: must not be given, this is a closed loop"),
		common.Broken(l.Concurrency < 1 || l.Concurrency > maxConcurrency,
			fmt.Sprintf("concurrency: must be from 1 to %d", maxConcurrency)),
		common.Broken(len(l.Routes) == 0, "routes: must have at least one"),
		common.Broken(l.Requests != nil && (*l.Requests < l.Concurrency || *l.Requests > maxRequests),
			fmt.Sprintf("requests: must be from concurrency to %d", maxRequests)),
		common.Broken(l.DurationS != nil && *l.DurationS > maxDurationS,
			fmt.Sprintf("duration_s: must be at most %d", maxDurationS)),
	)
}
