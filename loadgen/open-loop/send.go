package main

import (
	"cmp"
	"fmt"
	"time"

	common "tollbooth/internal/load"
	"tollbooth/internal/requests"
)

const (
	// A request without an answer after this long has failed.
	timeout = 20 * time.Second
	// An open loop sends nothing more while so many requests wait for an answer.
	maxInFlight = 10_000
	// Of a user of a closed loop, after a request without an answer.
	pauseAfterFailure = 100 * time.Millisecond
)

// sender sends loads to one target.
type sender struct {
	target   string // host:port
	timeout  time.Duration
	inFlight int // the most requests of an open loop that may be under way
	say      func(string)
}

// send sends a load and returns its rows when all requests have ended.
func (s sender) send(l load) (rows []requests.Row, err error) {
	address, err := common.Reach(s.target) // looked up once for the load
	if err != nil {
		return nil, err
	}
	c := newClient(address, s.messages(l), s.timeout, *cmp.Or(l.Concurrency, &s.inFlight))
	if l.TraceFlags != nil {
		c.parents = newTraceparents(*l.TraceFlags, l.Seed)
	}
	defer c.close()
	if l.Concurrency != nil {
		c.pause = pauseAfterFailure
		return c.closedLoop(l), nil
	}
	rows, err = c.openLoop(l)
	if c.unsent > 0 {
		s.say(fmt.Sprintf("%d of %d requests were not sent: %d were under way", c.unsent, len(rows), c.inFlight))
	}
	return rows, err
}

// messages are the load's requests as they are sent, by route.
func (s sender) messages(l load) map[string][]byte {
	headers := ""
	if l.ErrorProbability != nil {
		headers = fmt.Sprintf("tollbooth-error-probability: %v\r\n", *l.ErrorProbability)
	}
	found := map[string][]byte{}
	for _, route := range l.Routes {
		found[route] = fmt.Appendf(nil, "GET /%s HTTP/1.1\r\nHost: %s\r\n%s\r\n", route, s.target, headers)
	}
	return found
}
