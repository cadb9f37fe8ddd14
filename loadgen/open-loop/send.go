package main

import (
	"fmt"
	"net"
	"runtime"
	"time"

	"tollbooth/internal/requests"
)

const (
	// A request without an answer after this long has failed.
	timeout = 20 * time.Second
	// From building the schedule to the first arrival, which is then not late.
	leadTime   = 10 * time.Millisecond
	reachLimit = 5 * time.Second
)

// sender sends loads to one target.
type sender struct {
	target  string // host:port
	timeout time.Duration
	say     func(string)
}

// send sends a load's requests at their times, whatever becomes of the answers, and returns when all have ended.
func (s sender) send(l load) ([]requests.Row, error) {
	address, err := s.reach()
	if err != nil {
		return nil, err
	}
	rows := l.schedule()
	runtime.GC() // what the last load left; the next collection is then far away
	c := &client{
		clock: clock{time.Now()}, address: address, messages: s.messages(l), timeout: s.timeout, inFlight: l.inFlight(),
	}
	now := c.clock.now()
	if err := l.checkStarts(now); err != nil {
		return nil, err
	}
	first := l.startNs(now)
	precisely(func() {
		for i := range rows {
			rows[i].Intended += first
			c.clock.sleepUntil(rows[i].Intended)
			c.send(&rows[i])
		}
	})
	c.ended.Wait()
	c.close()
	if c.unsent > 0 {
		s.say(fmt.Sprintf("%d of %d requests were not sent: %d were under way", c.unsent, len(rows), c.inFlight))
	}
	return rows, nil
}

// reach looks the target up, once for the load, and checks that it takes a connection.
func (s sender) reach() (string, error) {
	connection, err := net.DialTimeout("tcp", s.target, reachLimit)
	if err != nil {
		return "", fmt.Errorf("cannot reach %s: %w", s.target, err)
	}
	return connection.RemoteAddr().String(), connection.Close()
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
