package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	common "tollbooth/internal/load"
	"tollbooth/internal/requests"
)

// What is drawn from the load's seed, besides the arrivals of a load without slices, which are stream 0.
const (
	routeStream = 1
	seedStream  = 2
	traceStream = 3
)

// part is a slice, or all of a load without slices.
type part struct {
	startNs int64 // counted from the load's start
	seed    uint64
}

// schedule returns a row for each request, in order, with its route and its intended start, counted from the load's.
func (l load) schedule() []requests.Row {
	next := l.routes()
	rows := make([]requests.Row, 0, l.expected())
	for _, part := range l.split() {
		arrivals := l.arrivals(part.seed)
		for number, due := 0, arrivals(); l.within(number, due); number, due = number+1, arrivals() {
			rows = append(rows, requests.Row{Target: next(), Intended: part.startNs + due.Nanoseconds()})
		}
	}
	// The last Poisson arrivals of a slice may be later than the first ones of the next slice.
	slices.SortFunc(rows, func(a, b requests.Row) int { return cmp.Compare(a.Intended, b.Intended) })
	return rows
}

// split returns the load's parts. A slice's seed depends on the load's seed and on the slice's number only.
func (l load) split() []part {
	if l.StartsNs == nil {
		return []part{{0, l.Seed}}
	}
	seeds := rand.NewPCG(l.Seed, seedStream)
	parts := make([]part, len(l.StartsNs))
	for i, startNs := range l.StartsNs {
		parts[i] = part{startNs - l.StartsNs[0], seeds.Uint64()}
	}
	return parts
}

// startNs is when the load starts.
func (l load) startNs(now int64) int64 {
	if l.StartsNs == nil {
		return now + leadTime.Nanoseconds()
	}
	return l.StartsNs[0]
}

// expected is how many requests the load hardly exceeds: five standard deviations more than the mean of Poisson arrivals.
func (l load) expected() int {
	if l.Requests != nil {
		return *l.Requests * l.parts()
	}
	mean := *l.DurationS * *l.RequestsPerS
	return int(mean+5*math.Sqrt(mean)) + 1
}

// within says whether a request is within its part of the load. Poisson arrivals may be more than the mean: the bound
// holds then too.
func (l load) within(number int, due time.Duration) bool {
	if l.Requests != nil {
		return number < *l.Requests
	}
	return due.Seconds() < *l.DurationS && number < maxRequests
}

// arrivals returns the function that returns when the next request is due.
func (l load) arrivals(seed uint64) func() time.Duration {
	if l.Arrivals == "poisson" {
		return common.NewPoisson(*l.RequestsPerS, seed).Next
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
	random := rand.New(rand.NewPCG(l.Seed, routeStream))
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
