package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	common "tollbooth/internal/load"
)

const (
	// A connection that carries one small trace at a time needs small buffers. Thousands of them are open.
	manyConnections = 100
	smallBuffer     = 1 << 10
	largeBuffer     = 32 << 10
	// A target that does not listen yet is tried again after this long.
	reachAgain = 100 * time.Millisecond
)

// connection carries requests to one target. It is opened by the first one, and again after it broke.
type connection interface {
	// send returns when the request has been answered, the timeout is over, or the load has ended.
	send(load context.Context, timeout time.Duration, b *body) verdict
	close()
}

// opener opens connections to one target, all in the same way.
type opener struct {
	dialer *dialer
	gzip   bool
	buffer int // bytes, for reading
}

// transport is a protocol: how connections are opened, and what a request with one client's spans is. It has so many spans.
type transport struct {
	open   func(*opener) (connection, error)
	encode func(b *body, traces []trace, client int) (spans int)
}

// transports by their names in a load. Workers have one request under way at a time, and use `unary` in place of `grpc`.
var (
	unary      = transport{openUnary, encodeOTLP}
	transports = map[string]transport{
		"grpc":   {openGRPC, encodeOTLP},
		"http":   {openHTTP(tracesPath, protobufType), encodeOTLP},
		"zipkin": {openHTTP("/api/v2/spans", jsonType), encodeZipkin},
	}
)

func encodeOTLP(b *body, traces []trace, client int) int { return b.request(traces, client) }

// dialer connects to a host that is looked up once, and again where its address takes no connection.
type dialer struct {
	target string // host:port
	opened atomic.Uint64
	mutex  sync.Mutex
	known  string
}

// reach looks the target up, and checks that it takes a connection. That one is not counted: it is not the load's.
func (d *dialer) reach() (err error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.known, err = common.Reach(d.target)
	return err
}

// await connects to a target that may still be starting: while it refuses and pause returns true, it tries again.
func (d *dialer) await(pause func() bool) error {
	err := d.reach()
	for errors.Is(err, syscall.ECONNREFUSED) && pause() {
		err = d.reach()
	}
	return err
}

func (d *dialer) dial(ctx context.Context) (net.Conn, error) {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", d.address())
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if err != nil {
		d.known = ""
		return nil, err
	}
	d.opened.Add(1)
	d.known = connection.RemoteAddr().String()
	return connection, nil
}

func (d *dialer) address() string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.known != "" {
		return d.known
	}
	return d.target
}

// targets splits the list of hosts.
func targets(list string) ([]string, error) {
	found := strings.Split(list, ",")
	for _, target := range found {
		if _, _, err := net.SplitHostPort(target); err != nil {
			return nil, fmt.Errorf("TARGET: must be host:port, or several with commas between them: %q", list)
		}
	}
	return found, nil
}

// readAnswer reads an ExportTraceServiceResponse: an accepted request may have rejected spans.
func readAnswer(message []byte) (rejected int64, err error) {
	if len(message) == 0 {
		return 0, nil
	}
	answer := ptraceotlp.NewExportResponse()
	err = answer.UnmarshalProto(message)
	return answer.PartialSuccess().RejectedSpans(), err
}
