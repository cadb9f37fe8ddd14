package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	common "tollbooth/internal/load"
	"tollbooth/internal/requests"
)

// A rate is held where 99 % of its requests start at most this late, and each has an answer.
const heldWithin = time.Millisecond

// checkRates sends each rate for a while and prints how late its requests started.
func checkRates(out io.Writer, target, route string, each time.Duration) error {
	if target == "" {
		own, stop, err := serveEmpty()
		if err != nil {
			return err
		}
		defer stop()
		target = own
	}
	var tried []triedRate
	fmt.Fprintf(out, "requests/s  requests  failed  delay p50 us  p99 us  p99.9 us  max us  latency p50 us\n")
	for _, perS := range []float64{200, 300, 600, 1200, 2400} {
		seconds := each.Seconds()
		l := load{Common: common.Ending(seconds), Arrivals: "poisson", Routes: []string{route}, Seed: 1}
		l.RequestsPerS = &perS
		if err := l.Check(); err != nil {
			return err
		}
		rows, err := sender{target, timeout, maxInFlight, say}.send(l)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return fmt.Errorf("-for %v is too short for %.0f requests/s", each, perS)
		}
		failed := 0
		for _, row := range rows {
			if row.Status != http.StatusOK {
				failed++
			}
		}
		late := sorted(rows, func(r requests.Row) int64 { return r.Start - r.Intended })
		took := sorted(rows, func(r requests.Row) int64 { return r.End - r.Start })
		fmt.Fprintf(out, "%10.0f  %8d  %6d  %12d  %6d  %8d  %6d  %14d\n", perS, len(rows), failed,
			us(late, 0.5), us(late, 0.99), us(late, 0.999), us(late, 1), us(took, 0.5))
		tried = append(tried, triedRate{perS, failed == 0 && us(late, 0.99) <= heldWithin.Microseconds()})
	}
	fmt.Fprintf(out, "highest rate held, with all lower ones (delay p99 at most %v, none failed): %s\n",
		heldWithin, highestHeld(tried))
	return nil
}

type triedRate struct {
	perS float64
	held bool
}

// highestHeld names the last of the ascending rates before the first one that was not held.
func highestHeld(tried []triedRate) string {
	highest := "none"
	for _, rate := range tried {
		if !rate.held {
			break
		}
		highest = fmt.Sprintf("%.0f requests/s", rate.perS)
	}
	return highest
}

// serveEmpty starts a server that answers at once.
func serveEmpty() (address string, stop func() error, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	go func() { _ = server.Serve(listener) }()
	return listener.Addr().String(), server.Close, nil
}

func sorted(rows []requests.Row, of func(requests.Row) int64) []int64 {
	found := make([]int64, len(rows))
	for i, row := range rows {
		found[i] = of(row)
	}
	slices.Sort(found)
	return found
}

// us is a quantile of sorted times, in whole microseconds.
func us(sorted []int64, quantile float64) int64 {
	at := min(int(float64(len(sorted))*quantile), len(sorted)-1)
	return sorted[at] / 1000
}
