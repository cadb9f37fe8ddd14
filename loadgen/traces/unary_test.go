package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
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

const (
	firstStream = 1
	// How long a request may last in a test. Its deadline is earlier.
	patience = 10 * time.Second
)

// exchangeOver sends a request over a socket, and returns how it ends.
func exchangeOver(socket net.Conn) (verdict, error) {
	u := &unaryConnection{opener: &opener{dialer: &dialer{target: "pipe"}}, header: requestHeader("pipe", false)}
	begin := u.begin(context.Background(), socket)
	u.stream, u.share = firstStream, u.firstShare
	_, err := u.write(begin, []byte("message"))
	for err == nil && !u.answer.ended {
		err = u.readFrame()
	}
	if err != nil {
		return verdict{outcome: sendError}, err
	}
	return u.answer.verdict(), nil
}

// answeredBy is how a request ends whose target answers these bytes, and then closes the connection or says nothing. A
// request that does not end fails the test.
func answeredBy(t *testing.T, answer []byte, closes bool, within time.Duration) (ended verdict, err error) {
	t.Helper()
	own, other := net.Pipe()
	defer other.Close()
	defer own.Close()
	if err := own.SetDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, other) }()
	go func() {
		_, _ = other.Write(answer)
		if closes {
			other.Close()
		}
	}()
	over := make(chan struct{})
	go func() {
		defer close(over)
		ended, err = exchangeOver(own)
	}()
	select {
	case <-over:
	case <-time.After(patience):
		t.Fatalf("a request does not end after %q", answer)
	}
	return ended, err
}

// isCorrect says whether an answer ends the first stream with gRPC's status 0 in a header. A status is digits only:
// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
func isCorrect(answer []byte) bool {
	found, last := "", false
	decoder := hpack.NewDecoder(0, func(field hpack.HeaderField) {
		if field.Name == "grpc-status" {
			found = field.Value
		}
	})
	header := func(block []byte, complete bool) (ended bool, err error) {
		if _, err := decoder.Write(block); err != nil || !complete {
			return false, err
		}
		return last, decoder.Close()
	}
	framer := http2.NewFramer(io.Discard, bytes.NewReader(answer))
	for ended := false; !ended; {
		read, err := framer.ReadFrame()
		if err == nil && read.Header().StreamID == firstStream {
			switch frame := read.(type) {
			case *http2.DataFrame:
				ended = frame.StreamEnded()
			case *http2.HeadersFrame:
				last = frame.StreamEnded()
				ended, err = header(frame.HeaderBlockFragment(), frame.HeadersEnded())
			case *http2.ContinuationFrame:
				ended, err = header(frame.HeaderBlockFragment(), frame.HeadersEnded())
			}
		}
		if err != nil {
			return false
		}
	}
	return found != "" && strings.Trim(found, "0") == ""
}

// headersOf is a frame with headers on a stream.
func headersOf(stream uint32, flags http2.Flags, fields ...[2]string) []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	encoder.SetMaxDynamicTableSize(0)
	for _, field := range fields {
		_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}) // a buffer in memory takes everything
	}
	return appendFrame(nil, http2.FrameHeaders, flags, stream, block.Bytes())
}

// rawAnswer is what a target writes, and whether it is a correct answer. After that it may close the connection.
type rawAnswer struct {
	name            string
	bytes           []byte
	correct, closes bool
}

func rawAnswers() []rawAnswer {
	const settings = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	const begin = http2.FlagHeadersEndHeaders
	const end = begin | http2.FlagHeadersEndStream
	join := func(frames ...[]byte) []byte { return bytes.Join(frames, nil) }
	ok := [2]string{":status", "200"}
	code := func(value string) [2]string { return [2]string{"grpc-status", value} }
	good := headersOf(firstStream, end, ok, code("0"))
	begun := headersOf(firstStream, begin, ok)
	message := appendFrame(begun, http2.FrameData, 0, firstStream, make([]byte, grpcPrefixBytes))
	block := good[frameHeaderBytes:]
	first := appendFrame(nil, http2.FrameHeaders, http2.FlagHeadersEndStream, firstStream, block[:5])
	second := appendFrame(nil, http2.FrameContinuation, http2.FlagContinuationEndHeaders, firstStream, block[5:])
	return []rawAnswer{
		{"a status", good, true, false},
		{"after settings", join([]byte(settings), good), true, false},
		{"after a message", join(message, headersOf(firstStream, end, code("0"))), true, false},
		{"in two frames", join(first, second), true, false},
		{"after another request's", join(headersOf(3, end, ok, code("13")), good), true, false},
		{"none", headersOf(firstStream, end, ok), false, false},
		{"empty", headersOf(firstStream, end, ok, code("")), false, false},
		{"a failure", headersOf(firstStream, end, ok, code("13")), false, false},
		{"no digits", headersOf(firstStream, end, ok, code("+0")), false, false},
		{"another request's", join(headersOf(3, end, ok, code("0")), headersOf(firstStream, end, ok)), false, false},
		{"another header", headersOf(firstStream, end, ok, [2]string{"status", "0"}), false, false},
		{"before the end", headersOf(firstStream, begin, ok, code("0")), false, true},
		{"cut off", good[:len(good)-1], false, true},
	}
}

func TestOnlyACorrectAnswerIsASuccess(t *testing.T) {
	for _, c := range rawAnswers() {
		ended, err := answeredBy(t, c.bytes, c.closes, patience/2)
		if well := err == nil && ended == sentWell; well != c.correct {
			t.Errorf("%s: %+v (%v)", c.name, ended, err)
		}
		if isCorrect(c.bytes) != c.correct {
			t.Errorf("%s: correct: %v", c.name, !c.correct)
		}
	}
}

func TestARequestWithoutAnAnswerEndsAtItsDeadline(t *testing.T) {
	for _, c := range rawAnswers() {
		if !c.closes {
			continue
		}
		if ended, err := answeredBy(t, c.bytes, false, 50*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %+v (%v)", c.name, ended, err)
		}
	}
}

// FuzzUnary has a target answer anything, and close the connection or not: the request ends in time, and does not
// succeed but by a correct answer.
func FuzzUnary(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r\n"), true)
	f.Add([]byte("\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678"), false)
	f.Add([]byte("\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x07"), true)
	f.Add([]byte("\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), false)
	for _, seed := range rawAnswers() {
		f.Add(seed.bytes, seed.closes)
	}
	f.Fuzz(func(t *testing.T, answer []byte, closes bool) {
		ended, err := answeredBy(t, answer, closes, 10*time.Millisecond)
		if err == nil && ended == sentWell && !isCorrect(answer) {
			t.Errorf("%q is a success", answer)
		}
	})
}
