package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/bojand/ghz/runner"
	"google.golang.org/grpc/codes"

	"tollbooth/internal/requests"
)

// rowsOf makes rows of what ghz counted, in order of ending. ghz knows neither which of its workers
// sent a request nor how large the answer was: user and bytes are 0. `plan` is an open loop's schedule; nil is a closed loop,
// where a request is meant to start when it does.
//
// The anchor's wall clock and the monotonic clock since then make the times, so that a step of the former bends none.
func rowsOf(details []runner.ResultDetail, name string, anchor time.Time, plan *schedule) []requests.Row {
	unix := func(t time.Time) int64 { return anchor.UnixNano() + t.Sub(anchor).Nanoseconds() }
	rows := make([]requests.Row, len(details))
	for i, detail := range details {
		// ghz's timestamp is the end.
		end := unix(detail.Timestamp)
		start := end - detail.Latency.Nanoseconds()
		rows[i] = requests.Row{Target: name, Intended: start, Start: start, End: end, Status: statusOf(detail)}
	}
	if plan != nil {
		intend(rows, plan.requests, func(i uint64) int64 { return unix(plan.due(i)) })
	}
	requests.Sort(rows)
	return rows
}

// intend gives each row the schedule's time. ghz does not number its results, but hands out requests one by one in the
// schedule's order, so the first to start is the first that was due. A row that starts before the next one is due is no
// request more: gRPC itself tried once again what a closing connection had not taken.
func intend(rows []requests.Row, scheduled uint64, due func(i uint64) int64) {
	slices.SortFunc(rows, func(a, b requests.Row) int { return cmp.Compare(a.Start, b.Start) })
	var begun uint64
	for i := range rows {
		if begun == 0 || begun < scheduled && due(begun) <= rows[i].Start {
			begun++
		}
		rows[i].Intended = due(begun - 1)
	}
}

var codeByName = func() map[string]codes.Code {
	names := map[string]codes.Code{}
	for code := codes.OK; code <= codes.Unauthenticated; code++ {
		names[code.String()] = code
	}
	return names
}()

// statusOf is 200 for an answer, 0 for none in time or a run that was ended, else 600 and gRPC's code.
func statusOf(detail runner.ResultDetail) int {
	code, known := codeByName[detail.Status]
	switch {
	case !known, code == codes.Canceled, code == codes.DeadlineExceeded && detail.Latency >= timeout:
		return 0
	case code == codes.OK:
		return 200
	default:
		return 600 + int(code)
	}
}
