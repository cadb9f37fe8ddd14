package main

import (
	"cmp"
	"fmt"

	common "tollbooth/internal/load"
)

const (
	maxRequests  = 1_500_000 // rows stay in memory until the end
	maxDurationS = 600       // at 2,500 requests/s
)

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
	return cmp.Or(
		common.Broken(l.RequestsPerS != nil, "requests_per_s: must not be given, this is a closed loop"),
		common.CheckConcurrency(l.Concurrency),
		common.CheckRoutes(l.Routes),
		common.Broken(l.Requests != nil && (*l.Requests < l.Concurrency || *l.Requests > maxRequests),
			fmt.Sprintf("requests: must be from concurrency to %d", maxRequests)),
		common.Broken(l.DurationS != nil && *l.DurationS > maxDurationS,
			fmt.Sprintf("duration_s: must be at most %d", maxDurationS)),
	)
}
