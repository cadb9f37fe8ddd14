package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/bojand/ghz/runner"
	"google.golang.org/grpc/codes"
)

const header = "# tollbooth.requests v1\nuser,target,intended_ns,start_ns,end_ns,status,bytes\n"

// request is one of requests.csv. Times are Unix ns.
type request struct {
	intended, start, end int64
	status               int
}

// requests makes rows of what ghz counted, in order of ending. `plan` is an open loop's schedule; nil is a closed loop,
// where a request is meant to start when it does.
//
// The anchor's wall clock and the monotonic clock since then make the times, so that a step of the former bends none.
func requests(details []runner.ResultDetail, anchor time.Time, plan *schedule) []request {
	unix := func(t time.Time) int64 { return anchor.UnixNano() + t.Sub(anchor).Nanoseconds() }
	rows := make([]request, len(details))
	for i, detail := range details {
		// ghz's timestamp is the end.
		end := unix(detail.Timestamp)
		start := end - detail.Latency.Nanoseconds()
		rows[i] = request{intended: start, start: start, end: end, status: statusOf(detail)}
	}
	if plan != nil {
		intend(rows, plan.requests, func(i uint64) int64 { return unix(plan.due(i)) })
	}
	slices.SortFunc(rows, func(a, b request) int { return cmp.Compare(a.end, b.end) })
	return rows
}

// intend gives each row the schedule's time. ghz does not number its results, but hands out requests one by one in the
// schedule's order, so the first to start is the first that was due. A row that starts before the next one is due is no
// request more: gRPC itself tried once again what a closing connection had not taken.
func intend(rows []request, scheduled uint64, due func(i uint64) int64) {
	slices.SortFunc(rows, func(a, b request) int { return cmp.Compare(a.start, b.start) })
	var begun uint64
	for i := range rows {
		if begun == 0 || begun < scheduled && due(begun) <= rows[i].start {
			begun++
		}
		rows[i].intended = due(begun - 1)
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

// writeRequests writes requests.csv, whole or not at all.
func writeRequests(path, target string, rows []request) error {
	part := path + ".part"
	file, err := os.Create(part)
	if err != nil {
		return err
	}
	defer file.Close()
	buffered := bufio.NewWriter(file)
	fmt.Fprint(buffered, header)
	for _, row := range rows {
		// ghz tells neither its workers nor the answers' sizes: user and bytes are 0.
		fmt.Fprintf(buffered, "0,%s,%d,%d,%d,%d,0\n", target, row.intended, row.start, row.end, row.status)
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	return os.Rename(part, path)
}
