package main

import (
	"bytes"
	"cmp"
	"slices"
)

// arrivals are sorted by trace, then by time.
type arrivals []arrival

func (a arrivals) sort() {
	slices.SortFunc(a, func(x, y arrival) int { return cmp.Or(bytes.Compare(x.id[:], y.id[:]), cmp.Compare(x.ns, y.ns)) })
}

// of returns the arrivals of one trace.
func (a arrivals) of(id traceID) arrivals {
	first, _ := slices.BinarySearchFunc(a, id, func(x arrival, id traceID) int { return bytes.Compare(x.id[:], id[:]) })
	last := first
	for last < len(a) && a[last].id == id {
		last++
	}
	return a[first:last]
}

// match decides what became of an accepted trace: a success if as many spans as were sent came back within the timeout
// (ns) after it was sent. Only their number is known: a part that came twice can hide one that was lost. What came
// later is recorded too. If the load ended (Unix ns) before that time, nobody knows.
func (a arrivals) match(r *record, timeout, ended int64) {
	if r.outcome == empty {
		return
	}
	for _, came := range a.of(r.id) {
		if r.spansReceived < r.spansSent { // beyond their number, some came twice
			r.receiveEnd = came.ns - r.intended
		}
		r.spansReceived += came.spans
	}
	if r.outcome != accepted {
		return
	}
	r.receiveStart = r.sendEnd
	switch {
	case r.spansReceived >= r.spansSent && r.receiveEnd-r.sendEnd <= timeout:
		r.outcome = success
	case ended-r.intended-r.sendEnd < timeout:
		r.outcome = shutdown
	default:
		r.outcome = receiveTimeout
	}
}

// matchFiles writes the matched records of two logs of a load that ended (Unix ns).
func matchFiles(sentPath, arrivalsPath string, timeout, ended int64, to *recorder) error {
	var came arrivals
	err := readLines(arrivalsPath, arrivalHeader, func(line []byte) error {
		a, err := parseArrival(line)
		came = append(came, a)
		return err
	})
	if err != nil {
		return err
	}
	came.sort()
	var text []byte
	return readLines(sentPath, recordHeader, func(line []byte) error {
		r, err := parseRecord(line)
		if err != nil {
			return err
		}
		came.match(&r, timeout, ended)
		text = r.append(text[:0])
		to.add(text)
		return nil
	})
}
