package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// collector is the receiving side of the Collector's own library. It answers by a function.
type collector struct {
	ptraceotlp.UnimplementedGRPCServer
	answer atomic.Pointer[func(context.Context) (ptraceotlp.ExportResponse, error)]
	spans  atomic.Int64
}

func (c *collector) Export(ctx context.Context, request ptraceotlp.ExportRequest) (ptraceotlp.ExportResponse, error) {
	c.spans.Add(int64(request.Traces().SpanCount()))
	if answer := c.answer.Load(); answer != nil {
		return (*answer)(ctx)
	}
	return ptraceotlp.NewExportResponse(), nil
}

func (c *collector) answers(by func(context.Context) (ptraceotlp.ExportResponse, error)) {
	c.answer.Store(&by)
}

func startCollector(t *testing.T, at net.Listener) (*collector, *grpc.Server) {
	t.Helper()
	c, server := &collector{}, grpc.NewServer()
	ptraceotlp.RegisterGRPCServer(server, c)
	go func() { _ = server.Serve(at) }()
	t.Cleanup(server.Stop)
	return c, server
}

// sender sends requests over one unary connection.
type sender struct {
	*opener
	connection
}

func newSender(t *testing.T, address string, zip bool) sender {
	t.Helper()
	o := &opener{dialer: &dialer{target: address}, gzip: zip}
	opened, err := openUnary(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.close)
	return sender{o, opened}
}

// once sends a request with so many traces of ten spans.
func (s sender) once(ctx context.Context, timeout time.Duration, traces int) verdict {
	b := newBody()
	b.request(several(tenSpans(), traces), 0)
	return s.send(ctx, timeout, b)
}

func TestRequestsOfAnySizeAreSentOverOneConnection(t *testing.T) {
	at := listen(t)
	c, _ := startCollector(t, at)
	for _, zip := range []bool{false, true} {
		s, want := newSender(t, at.Addr().String(), zip), int64(0)
		c.spans.Store(0)
		// The largest has more than 2 MB: far more than the window that a connection begins with.
		for _, traces := range []int{1, 100, 1, 2000, 1, 40, 700} {
			if ended := s.once(context.Background(), 10*time.Second, traces); ended != sentWell {
				t.Fatalf("gzip %v, %d traces: %+v", zip, traces, ended)
			}
			want += int64(10 * traces)
		}
		if c.spans.Load() != want || s.dialer.opened.Load() != 1 {
			t.Errorf("gzip %v: %d of %d spans over %d connections", zip, c.spans.Load(), want, s.dialer.opened.Load())
		}
	}
}

func TestAConnectionLastsForManyRequests(t *testing.T) {
	at := listen(t)
	c, _ := startCollector(t, at)
	c.answers(func(context.Context) (ptraceotlp.ExportResponse, error) {
		answer := ptraceotlp.NewExportResponse() // 40 of them fill the window that a connection begins with
		answer.PartialSuccess().SetErrorMessage(string(bytes.Repeat([]byte("x"), 1600)))
		return answer, nil
	})
	s := newSender(t, at.Addr().String(), false)
	for i := range 500 {
		if ended := s.once(context.Background(), 5*time.Second, 1); ended != sentWell {
			t.Fatalf("request %d: %+v", i, ended)
		}
	}
	if s.dialer.opened.Load() != 1 {
		t.Errorf("%d connections", s.dialer.opened.Load())
	}
}

func TestTheAnswerDecidesTheVerdict(t *testing.T) {
	at := listen(t)
	c, _ := startCollector(t, at)
	s := newSender(t, at.Addr().String(), false)
	for _, answer := range []struct {
		by   func(context.Context) (ptraceotlp.ExportResponse, error)
		want verdict
	}{
		{func(context.Context) (ptraceotlp.ExportResponse, error) {
			answer := ptraceotlp.NewExportResponse()
			answer.PartialSuccess().SetRejectedSpans(3)
			return answer, nil
		}, verdict{sendError, codeRejected}},
		{func(context.Context) (ptraceotlp.ExportResponse, error) {
			return ptraceotlp.NewExportResponse(), status.Error(codes.ResourceExhausted, string(bytes.Repeat([]byte("too much "), 1000)))
		}, verdict{sendError, int(codes.ResourceExhausted)}},
		{func(ctx context.Context) (ptraceotlp.ExportResponse, error) {
			<-ctx.Done() // until the sender gives up
			return ptraceotlp.NewExportResponse(), ctx.Err()
		}, verdict{outcome: sendTimeout}},
		{func(context.Context) (ptraceotlp.ExportResponse, error) { return ptraceotlp.NewExportResponse(), nil }, sentWell},
	} {
		c.answers(answer.by)
		for range 3 {
			if ended := s.once(context.Background(), 300*time.Millisecond, 2); ended != answer.want {
				t.Errorf("%+v, want %+v", ended, answer.want)
			}
		}
	}
	if s.dialer.opened.Load() != 1 {
		t.Errorf("%d connections", s.dialer.opened.Load())
	}
}

func TestTheEndOfALoadEndsARequest(t *testing.T) {
	at := listen(t)
	c, _ := startCollector(t, at)
	c.answers(func(ctx context.Context) (ptraceotlp.ExportResponse, error) {
		<-ctx.Done()
		return ptraceotlp.NewExportResponse(), ctx.Err()
	})
	s := newSender(t, at.Addr().String(), false)
	ctx, end := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, end)
	began := time.Now()
	if ended := s.once(ctx, time.Minute, 1); ended != (verdict{outcome: shutdown}) || time.Since(began) > 5*time.Second {
		t.Errorf("%+v after %v", ended, time.Since(began))
	}
	if ended := s.once(ctx, time.Minute, 1); ended != (verdict{outcome: shutdown}) {
		t.Errorf("after the load: %+v", ended)
	}
}

func TestAConnectionThatTheTargetClosedCostsNoRequest(t *testing.T) {
	at := listen(t)
	_, server := startCollector(t, at)
	s := newSender(t, at.Addr().String(), false)
	for round := range 3 {
		if ended := s.once(context.Background(), time.Second, 1); ended != sentWell {
			t.Fatalf("round %d: %+v", round, ended)
		}
		if round%2 == 0 {
			go server.GracefulStop() // says that it goes away, and waits for the connection to end
			awaitPending(t, s)
		}
		server.Stop()
		again, err := net.Listen("tcp", at.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, server = startCollector(t, again)
	}
	if s.dialer.opened.Load() != 3 {
		t.Errorf("%d connections for 3 targets", s.dialer.opened.Load())
	}
}

// awaitPending waits until something has come after the last answer, and leaves it unread.
func awaitPending(t *testing.T, s sender) {
	t.Helper()
	socket := s.connection.(*unaryConnection).socket
	if err := socket.SetDeadline(time.Time{}); err != nil { // the last request's may pass meanwhile
		t.Fatal(err)
	}
	eventually(t, "something comes", func() bool {
		came, _ := pending(socket)
		return came
	})
}

func TestATargetThatSpeaksNoHTTP2IsASendError(t *testing.T) {
	for name, answer := range map[string]string{
		"nothing":   "",
		"HTTP/1":    "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
		"cut off":   "\x00\x00\x06\x04\x00\x00\x00",
		"no answer": "\x00\x00\x00\x04\x00\x00\x00\x00\x00",
	} {
		at := listen(t)
		go func() {
			for {
				socket, err := at.Accept()
				if err != nil {
					return
				}
				_, _ = io.ReadFull(socket, make([]byte, len(http2.ClientPreface)))
				_, _ = io.WriteString(socket, answer)
				socket.Close()
			}
		}()
		s := newSender(t, at.Addr().String(), false)
		for range 2 {
			if ended := s.once(context.Background(), time.Second, 1); ended != (verdict{sendError, int(codes.Unavailable)}) {
				t.Errorf("%s: %+v", name, ended)
			}
		}
		at.Close()
	}
}

// FuzzUnary has a target answer anything: the request ends in time, and does not succeed but by a correct answer.
func FuzzUnary(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r\n"))
	f.Add([]byte("\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678"))
	f.Add([]byte("\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x07"))
	f.Add([]byte("\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		own, other := net.Pipe()
		defer own.Close()
		go func() {
			go func() { _, _ = io.Copy(io.Discard, other) }()
			_, _ = other.Write(answer)
			time.Sleep(time.Millisecond)
			other.Close()
		}()
		u := &unaryConnection{opener: &opener{dialer: &dialer{target: "pipe"}}, header: requestHeader("pipe", false)}
		begin := u.begin(context.Background(), own)
		u.stream, u.share = 1, u.firstShare
		written, err := u.write(begin, []byte("message"))
		for err == nil && !u.answer.ended {
			err = u.readFrame()
		}
		if err == nil && written && u.answer.verdict() == sentWell && !bytes.Contains(answer, []byte("grpc-status")) && len(answer) < 20 {
			t.Errorf("%q is a success", answer)
		}
	})
}
