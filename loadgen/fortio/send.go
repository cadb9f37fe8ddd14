package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"fortio.org/fortio/fhttp"
	"fortio.org/fortio/periodic"

	"tollbooth/internal/clock"
	common "tollbooth/internal/load"
	"tollbooth/internal/requests"
)

const (
	// A request without an answer after this long has failed.
	timeout = 20 * time.Second
	// fortio's way of saying: as fast as the answers come.
	noRate = -1
)

// connection is one of fortio's clients, which has one connection and sends one request after the other. It is fortio's
// Runnable.
type connection struct {
	number  int
	route   string
	fetcher fhttp.Fetcher
	clock   clock.Clock
	stop    *periodic.Aborter
	rows    []requests.Row
}

// send makes the requests of a load, and returns a row for each when all have ended. A request without an answer ends the
// load: otherwise its connection would fail as fast as it can until the end.
func send(l load, target string) ([]requests.Row, error) {
	_, err := common.Reach(target)
	if err != nil {
		return nil, err
	}
	options := periodic.RunnerOptions{QPS: noRate, NumThreads: l.Concurrency, Out: io.Discard}
	if l.Requests != nil {
		options.Exactly = int64(*l.Requests)
	} else {
		options.Duration = time.Duration(*l.DurationS * float64(time.Second))
	}
	runner := periodic.NewPeriodicRunner(&options)
	connections := make([]*connection, l.Concurrency)
	for i := range connections {
		connections[i], err = newConnection(i, target, l.Routes[i%len(l.Routes)], runner.Options().Stop)
		if err != nil {
			runner.Options().Abort()
			return nil, err
		}
		defer connections[i].fetcher.Close()
		runner.Options().Runners[i] = connections[i]
	}
	runner.Run()
	var rows [][]requests.Row
	for _, one := range connections {
		rows = append(rows, one.rows)
	}
	return slices.Concat(rows...), nil
}

func newConnection(number int, target, route string, stop *periodic.Aborter) (*connection, error) {
	options := fhttp.NewHTTPOptions("http://" + target + "/" + route)
	options.HTTPReqTimeOut = timeout
	fetcher, err := fhttp.NewClient(options)
	if err != nil {
		return nil, fmt.Errorf("cannot reach %s: %w", target, err)
	}
	return &connection{number: number, route: route, fetcher: fetcher, clock: clock.New(), stop: stop}, nil
}

// Run sends one request and waits for its answer.
func (c *connection) Run(ctx context.Context, _ periodic.ThreadID) (bool, string) {
	start := c.clock.Now()
	status, size, headers := c.fetcher.StreamFetch(ctx)
	row := requests.Row{User: c.number, Target: c.route, Intended: start, Start: start, End: c.clock.Now()}
	switch {
	case status == http.StatusOK:
		row.Status, row.Bytes = status, size-int64(headers)
	case status > 0: // fortio does not look for the end of its headers
		row.Status = status
	default: // fortio's codes of broken connections
		c.stop.Abort(false)
	}
	c.rows = append(c.rows, row)
	return status == http.StatusOK, ""
}
