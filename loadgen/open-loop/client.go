package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"tollbooth/internal/clock"
	"tollbooth/internal/requests"
)

// errNoAnswer is of an interim answer, which no request of ours may have.
var errNoAnswer = errors.New("not an answer")

// client sends the requests of one load and records what became of each. Its connections are HTTP/1.1's: each carries
// one request at a time, and is kept for the next. No request waits for one: where all are busy, a new one is opened.
type client struct {
	clock    clock.Clock
	address  string            // of the target, looked up
	messages map[string][]byte // by route
	parents  *traceparents     // nil: requests have no traceparent
	timeout  time.Duration
	inFlight int // the most requests that may be under way
	// After a request without an answer, a user of a closed loop pauses: without a target it would do nothing but fail.
	// 0 in an open loop.
	pause time.Duration

	mutex    sync.Mutex
	idle     []*connection // the one used last is at the end
	underWay int           // in a closed loop, users that pause count too
	over     bool          // no request is sent any more
	unsent   int
	ended    sync.WaitGroup // of the requests under way
	fewer    sync.Cond      // signalled where fewer requests are under way
}

// connection is an open one to the target.
type connection struct {
	client *client
	socket net.Conn
	reader *bufio.Reader
	used   bool          // it has brought an answer
	row    *requests.Row // the request under way, nil while idle; under the client's mutex
}

// newClient returns a client without connections. `messages` are the requests by route.
func newClient(address string, messages map[string][]byte, timeout time.Duration, inFlight int) *client {
	c := &client{
		clock: clock.New(), address: address, messages: messages, timeout: timeout, inFlight: inFlight,
	}
	c.fewer.L = &c.mutex
	return c
}

// awaitFewer returns true when another request may be sent, and false when the load is over.
func (c *client) awaitFewer() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for c.underWay == c.inFlight && !c.over {
		c.fewer.Wait()
	}
	return !c.over
}

// end ends the wait of awaitFewer, whether users pause or not.
func (c *client) end() {
	c.mutex.Lock()
	c.over = true
	c.mutex.Unlock()
	c.fewer.Signal()
}

// send sends a request now, and does not wait for the answer. Only one goroutine calls it.
func (c *client) send(row *requests.Row) {
	row.Start = c.clock.Now()
	free, may := c.take(row)
	switch {
	case !may:
		// It is recorded as failed, never left out.
		row.End = row.Start
	case free == nil:
		go c.serve(row)
	default:
		free.write(row)
	}
}

// take reserves an idle connection, nil where there is none. `may` is false where too many requests are under way.
func (c *client) take(row *requests.Row) (free *connection, may bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.underWay == c.inFlight {
		c.unsent++
		return nil, false
	}
	c.underWay++
	c.ended.Add(1)
	if last := len(c.idle) - 1; last >= 0 {
		free, c.idle = c.idle[last], c.idle[:last]
		free.row = row
	}
	return free, true
}

// serve sends a request on a new connection, and reads answers until that ends. It goes on with another one where the
// connection ended under a request that may be sent again.
func (c *client) serve(row *requests.Row) {
	for row != nil {
		dialer := net.Dialer{Deadline: c.deadline(row)}
		socket, err := dialer.Dial("tcp", c.address)
		if err != nil {
			c.finish(row, 0, 0, nil)
			return
		}
		opened := &connection{client: c, socket: socket, reader: bufio.NewReader(socket), row: row}
		opened.write(row)
		row = opened.read()
		socket.Close()
	}
}

// message returns a request to a route as it is sent.
func (c *client) message(route string) []byte {
	if c.parents == nil {
		return c.messages[route]
	}
	return c.parents.added(c.messages[route])
}

func (c *client) deadline(row *requests.Row) time.Time {
	return c.clock.At(row.Start).Add(c.timeout)
}

// finish records how a request ended, and makes its connection idle where that is `kept`. Status 0: no answer.
func (c *client) finish(row *requests.Row, status int, bytes int64, kept *connection) {
	row.Status, row.Bytes, row.End = status, bytes, c.clock.Now()
	if status == 0 && c.pause > 0 {
		time.AfterFunc(c.pause, func() { c.leave(nil) })
	} else {
		c.leave(kept)
	}
	c.ended.Done()
}

// leave lets another request be sent, also over the connection that is `kept`.
func (c *client) leave(kept *connection) {
	c.mutex.Lock()
	c.underWay--
	if kept != nil {
		kept.row = nil
		c.idle = append(c.idle, kept)
	}
	c.mutex.Unlock()
	c.fewer.Signal()
}

// write sends the request. It does not block: an idle connection's send buffer is empty. `read` sees an error.
func (o *connection) write(row *requests.Row) {
	_ = o.socket.SetDeadline(o.client.deadline(row))
	_, _ = o.socket.Write(o.client.message(row.Target))
}

// read reads answers until the connection ends. It returns the request that has to be sent again, or nil.
func (o *connection) read() *requests.Row {
	for {
		_, err := o.reader.Peek(1)
		row := o.current()
		switch {
		case row == nil:
			return nil
		case err != nil && o.used && !errors.Is(err, os.ErrDeadlineExceeded):
			// HTTP lets a client send a GET again where a kept connection was closed before the answer began. The
			// request's time counts from its first start.
			return row
		case err != nil:
			o.client.finish(row, 0, 0, nil)
			return nil
		}
		status, bytes, keep, err := o.answer()
		if err != nil {
			o.client.finish(row, 0, 0, nil)
			return nil
		}
		if !keep {
			o.client.finish(row, status, bytes, nil)
			return nil
		}
		o.used = true
		_ = o.socket.SetDeadline(time.Time{})
		o.client.finish(row, status, bytes, o)
	}
}

// current returns the request under way. Where there is none, the idle connection has ended, or brought what no request
// waits for: it is taken out of the pool.
func (o *connection) current() *requests.Row {
	o.client.mutex.Lock()
	defer o.client.mutex.Unlock()
	if o.row == nil {
		o.client.idle = slices.DeleteFunc(o.client.idle, func(idle *connection) bool { return idle == o })
	}
	return o.row
}

// answer reads an answer; `keep` says whether the connection can carry another request.
func (o *connection) answer() (status int, bytes int64, keep bool, err error) {
	response, err := http.ReadResponse(o.reader, nil)
	if err != nil {
		return 0, 0, false, err
	}
	defer response.Body.Close()
	bytes, err = io.Copy(io.Discard, response.Body)
	if err == nil && response.StatusCode < http.StatusOK {
		err = errNoAnswer
	}
	return response.StatusCode, bytes, !response.Close, err
}

// close ends the idle connections.
func (c *client) close() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, idle := range c.idle {
		idle.socket.Close()
	}
}
