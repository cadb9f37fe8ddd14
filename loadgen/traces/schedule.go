package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	common "tollbooth/internal/load"
)

// due is one request of an open loop.
type due struct {
	after  int64  // ns after the load's begin
	worker int    // whose connection it takes
	number uint64 // of its first trace
	traces int
	logged shape // of its trace, when it was sent before; unlogged: it was not
}

// schedule returns the next request, and false after the last one.
type schedule func() (due, bool)

// schedule has the load's requests at its rate. A request's traces are due together. Each connection has its turn.
func (d *decoupled) schedule(seed uint64, lasts time.Duration) schedule {
	requestsPerS := d.TracesPerS / float64(d.TracesPerRequest)
	poisson := common.NewPoisson(requestsPerS, seed)
	request := uint64(0)
	return func() (due, bool) {
		after := common.Fixed(request, requestsPerS)
		if d.Arrivals == "poisson" {
			after = poisson.Next()
		}
		next := due{
			after.Nanoseconds(), int(request % uint64(d.Connections)),
			request * uint64(d.TracesPerRequest), d.TracesPerRequest, unlogged,
		}
		request++
		return next, after < lasts
	}
}

// readReplay returns what a log's traces are due at: their send times, counted from the first one.
func readReplay(path string) ([]due, error) {
	var found []due
	err := readLines(path, recordHeader, func(line []byte) error {
		r, err := parseRecord(line)
		if err == nil && r.sendStart != never {
			found = append(found, due{r.intended + r.sendStart, r.worker, r.number, 1, r.shape()})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("replay.log: %w", err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("replay.log: %s has no trace that was sent", filepath.Base(path))
	}
	slices.SortFunc(found, func(a, b due) int { return cmp.Compare(a.after, b.after) })
	first := found[0].after
	for i := range found {
		found[i].after -= first
	}
	return found, nil
}

// replaying is a schedule of what was read from a log.
func replaying(logged []due, lasts time.Duration) schedule {
	return func() (due, bool) {
		if len(logged) == 0 || logged[0].after >= lasts.Nanoseconds() {
			return due{}, false
		}
		next := logged[0]
		logged = logged[1:]
		return next, true
	}
}
