package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"tollbooth/internal/clock"
)

const (
	// Of a message as it comes, and unpacked: a Collector's batches may be larger than what it takes itself.
	receiveLimit = 64 << 20
	headerLimit  = 10 * time.Second
	tracesPath   = "/v1/traces"
)

// delivery is who wants to know what comes back: the parts of one request, valid during the call, and when it came.
type delivery struct {
	clock clock.Clock
	take  func(parts []part, ns int64)
}

// receiver is the endpoint where traces come back, by OTLP over gRPC and over HTTP. It serves all loads.
type receiver struct {
	to                        atomic.Pointer[delivery] // nil between loads
	requests, spans, rejected atomic.Uint64            // rejected: what could not be read
	connections               atomic.Int64
	grpc                      *grpc.Server
	http                      *http.Server
}

func newReceiver() *receiver {
	r := &receiver{}
	r.grpc = grpc.NewServer(
		grpc.ForceServerCodecV2(codec{}),
		grpc.MaxRecvMsgSize(receiveLimit),
		grpc.SharedWriteBuffer(true),
		grpc.StatsHandler(refusals{r}),
	)
	r.grpc.RegisterService(&grpc.ServiceDesc{
		ServiceName: serviceOTLP,
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "Export", Handler: exportHandler}},
	}, r)
	paths := http.NewServeMux()
	paths.HandleFunc("POST "+tracesPath, r.post)
	r.http = &http.Server{Handler: paths, ReadHeaderTimeout: headerLimit}
	return r
}

// serve takes what comes to the two ports until stop is called.
func (r *receiver) serve(overGRPC, overHTTP net.Listener) {
	go func() { _ = r.grpc.Serve(&checkedListener{overGRPC, "PRI", r}) }()
	go func() { _ = r.http.Serve(&checkedListener{overHTTP, "POST", r}) }()
}

func (r *receiver) stop() {
	r.grpc.Stop()
	_ = r.http.Close()
}

// take reads a request and passes it on.
func (r *receiver) take(message []byte) error {
	to, now := r.to.Load(), int64(0)
	if to != nil {
		now = to.clock.Now()
	}
	held := partLists.Get().(*[]part)
	defer partLists.Put(held)
	parts, err := tally(message, (*held)[:0])
	*held = parts
	if err != nil {
		r.rejected.Add(1)
		return fmt.Errorf("not an OTLP request: %w", err)
	}
	if to != nil {
		to.take(parts, now)
	}
	r.requests.Add(1)
	for _, p := range parts {
		r.spans.Add(uint64(p.spans))
	}
	return nil
}

var partLists = sync.Pool{New: func() any { return new([]part) }}

// received is a request that comes by gRPC.
type received struct{ *receiver }

func (r received) read(message []byte) error { return r.take(message) }

func exportHandler(server any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	*reached(ctx) = true
	return nil, decode(received{server.(*receiver)}) // the codec makes an empty message of nil
}

// post receives a request by HTTP.
func (r *receiver) post(w http.ResponseWriter, request *http.Request) {
	message, err := readBody(request)
	if err != nil {
		r.rejected.Add(1)
	} else {
		err = r.take(message)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", protobufType) // an empty body is an ExportTraceServiceResponse
}

func readBody(request *http.Request) ([]byte, error) {
	if found := request.Header.Get("Content-Type"); found != protobufType {
		return nil, fmt.Errorf("the content type is %q, not %s", found, protobufType)
	}
	source := io.Reader(request.Body)
	switch encoding := request.Header.Get("Content-Encoding"); encoding {
	case "":
	case "gzip":
		unpacked, err := gzip.NewReader(source)
		if err != nil {
			return nil, err
		}
		source = unpacked
	default:
		return nil, fmt.Errorf("the content encoding is %q, not gzip", encoding)
	}
	var message bytes.Buffer
	read, err := message.ReadFrom(io.LimitReader(source, receiveLimit+1))
	if err == nil && read > receiveLimit {
		err = fmt.Errorf("the message is larger than %d bytes", receiveLimit)
	}
	return message.Bytes(), err
}

// checkedListener counts its connections, and those that do not begin as the protocol does: what follows then is garbage.
type checkedListener struct {
	net.Listener
	begins   string
	receiver *receiver
}

// Accept returns the next connection.
func (l *checkedListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.receiver.connections.Add(1)
	return &checkedConn{Conn: connection, listener: l, left: l.begins}, nil
}

type checkedConn struct {
	net.Conn
	listener *checkedListener
	left     string // what must still come
	closed   sync.Once
}

// Read reads, and looks at the first bytes.
func (c *checkedConn) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	if c.left == "" || n == 0 {
		return n, err
	}
	seen := min(n, len(c.left))
	if string(into[:seen]) == c.left[:seen] {
		c.left = c.left[seen:]
	} else {
		c.left = ""
		c.listener.receiver.rejected.Add(1)
	}
	return n, err
}

// Close closes the connection.
func (c *checkedConn) Close() error {
	c.closed.Do(func() { c.listener.receiver.connections.Add(-1) })
	return c.Conn.Close()
}
