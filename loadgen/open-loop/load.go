package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"time"

	common "tollbooth/internal/load"
	"tollbooth/internal/requests"
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

// schedule returns a row for each request, in order, with its route and its intended start, counted from the load's.
func (l load) schedule() []requests.Row {
	next, arrivals := l.routes(), l.arrivals()
	rows := make([]requests.Row, 0, l.expected())
	for due := arrivals(); l.within(len(rows), due); due = arrivals() {
		rows = append(rows, requests.Row{Target: next(), Intended: due.Nanoseconds()})
	}
	return rows
}

// expected is how many requests the load hardly exceeds: five standard deviations more than the mean of Poisson arrivals.
func (l load) expected() int {
	if l.Requests != nil {
		return *l.Requests
	}
	mean := *l.DurationS * *l.RequestsPerS
	return int(mean+5*math.Sqrt(mean)) + 1
}

// within says whether a request is part of the load. Poisson arrivals may be more than the mean: the bound holds then too.
func (l load) within(number int, due time.Duration) bool {
	if l.Requests != nil {
		return number < *l.Requests
	}
	return due.Seconds() < *l.DurationS && number < maxRequests
}

// arrivals returns the function that returns when the next request is due.
func (l load) arrivals() func() time.Duration {
	if l.Arrivals == "poisson" {
		return common.NewPoisson(*l.RequestsPerS, l.Seed).Next
	}
	number := uint64(0)
	return func() time.Duration {
		number++
		return common.Fixed(number-1, *l.RequestsPerS)
	}
}

// routes returns the function that returns the next route: all once, in random order, before one is repeated.
// Its draws are its own: the number of routes does not change the arrivals.
func (l load) routes() func() string {
	random := rand.New(rand.NewPCG(l.Seed, 1))
	var left []int
	return func() string {
		if len(left) == 0 {
			left = random.Perm(len(l.Routes))
		}
		route := l.Routes[left[0]]
		left = left[1:]
		return route
	}
}
