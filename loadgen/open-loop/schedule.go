package main

import (
	"math"
	"math/rand/v2"
	"time"

	common "tollbooth/internal/load"
	"tollbooth/internal/requests"
)

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
