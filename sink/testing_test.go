package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// stage is a sink that runs, and a client of it.
type stage struct {
	*testing.T
	sink      *sink
	addresses map[int]string // by port
	stop      func() error   // ends the sink and waits until it has ended
}

// testRate is the rate of a limited sink.
const testRate = 100

func start(t *testing.T, name string, delay time.Duration) *stage {
	t.Helper()
	initial, err := newBehaviour(name, delay, testRate)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, sink: newSink(initial), addresses: map[int]string{}}
	ctx, cancel := context.WithCancel(context.Background())
	listening, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- run(ctx, s.sink, func(port int) (net.Listener, error) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err == nil {
				s.addresses[port] = listener.Addr().String()
			}
			if len(s.addresses) == 4 {
				close(listening)
			}
			return listener, err
		})
	}()
	s.stop = func() error { cancel(); return <-ended }
	t.Cleanup(func() {
		cancel()
		http.DefaultClient.CloseIdleConnections()
	})
	<-listening
	return s
}

// request is one that a client sends.
type request struct {
	port   int
	method string
	path   string
	header map[string]string
	body   []byte
}

// answer is what came back, or what gRPC makes of it.
type answer struct {
	status     int
	grpcStatus string
	body       string
}

func (s *stage) send(r request) answer {
	s.Helper()
	got, err := s.trySend(context.Background(), r)
	if err != nil {
		s.Fatal(err)
	}
	return got
}

func (s *stage) trySend(ctx context.Context, r request) (answer, error) {
	return s.stream(ctx, r, bytes.NewReader(r.body))
}

// stream sends another body than the request's, as it comes.
func (s *stage) stream(ctx context.Context, r request, body io.Reader) (answer, error) {
	method := r.method
	if method == "" {
		method = http.MethodPost
	}
	sent, err := http.NewRequestWithContext(ctx, method, "http://"+s.addresses[r.port]+r.path, body)
	if err != nil {
		return answer{}, err
	}
	for name, value := range r.header {
		sent.Header.Set(name, value)
	}
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(r.port != grpcPort)
	transport.Protocols.SetUnencryptedHTTP2(r.port == grpcPort)
	s.Cleanup(transport.CloseIdleConnections)
	got, err := transport.RoundTrip(sent)
	if err != nil {
		return answer{}, err
	}
	defer got.Body.Close()
	content, err := io.ReadAll(got.Body)
	return answer{got.StatusCode, got.Header.Get("Grpc-Status") + got.Trailer.Get("Grpc-Status"), string(content)}, err
}

type counts struct {
	Format          string
	Version         int
	AcceptedSpans   int `json:"accepted_spans"`
	RefusedSpans    int `json:"refused_spans"`
	Requests        int
	DelayedRequests int `json:"delayed_requests"`
	Bytes           int
}

func (s *stage) counters() (c counts) {
	s.Helper()
	got := s.send(request{port: adminPort, method: http.MethodGet, path: "/counters"})
	if err := json.Unmarshal([]byte(got.body), &c); err != nil {
		s.Fatal(err)
	}
	return c
}

func (s *stage) expectSpans(accepted, refused int) {
	s.Helper()
	if c := s.counters(); c.AcceptedSpans != accepted || c.RefusedSpans != refused {
		s.Errorf("%d spans were accepted and %d refused, want %d and %d", c.AcceptedSpans, c.RefusedSpans, accepted, refused)
	}
}

// until waits until a condition holds.
func (s *stage) until(what string, holds func(counts) bool) {
	s.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(s.counters()); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.Fatal("waited too long for ", what)
		}
	}
}

// field is a length-delimited field of protobuf.
func field(number int, content ...[]byte) []byte {
	whole := bytes.Join(content, nil)
	key := binary.AppendUvarint(nil, uint64(number)<<3|lengthDelimited)
	return append(binary.AppendUvarint(key, uint64(len(whole))), whole...)
}

// anySpan has a name, and an end in nanoseconds.
func anySpan() []byte {
	return append(field(5, []byte("GET")), 8<<3|fixed64, 1, 2, 3, 4, 5, 6, 7, 8)
}

// threeSpans is an ExportTraceServiceRequest: two spans of one resource, in a scope each, and one of another.
func threeSpans() []byte {
	resource, scope, schema := field(1, field(1, []byte("attribute"))), field(1, []byte("scope")), field(3, []byte("url"))
	return bytes.Join([][]byte{
		field(1, resource, field(2, scope, field(2, anySpan()), schema), field(2, field(2, anySpan())), schema),
		field(1, field(2, field(2, anySpan()))),
	}, nil)
}

func grpcFrame(message []byte, compressed byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{compressed}, uint32(len(message))), message...)
}

const threeZipkinSpans = `[{"traceId":"1","id":"1","tags":{"a":"]"}},{"traceId":"1","id":"2","annotations":[{}]},{}]`

func gzipped(content []byte) []byte {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, _ = writer.Write(content)
	_ = writer.Close()
	return packed.Bytes()
}

func viaGRPC(body []byte) request {
	return request{port: grpcPort, path: exportPath, body: body,
		header: map[string]string{"Content-Type": "application/grpc", "Te": "trailers", "Grpc-Encoding": "gzip"}}
}

func viaHTTP(body []byte, encoding string) request {
	return request{port: httpPort, path: "/v1/traces", body: body,
		header: map[string]string{"Content-Type": protobufType, "Content-Encoding": encoding}}
}

func viaZipkin(body []byte, encoding string) request {
	return request{port: zipkinPort, path: "/api/v2/spans", body: body,
		header: map[string]string{"Content-Type": "application/json; charset=utf-8", "Content-Encoding": encoding}}
}

// requests are the ways of sending three spans.
func requests() map[string]request {
	return map[string]request{
		"gRPC":              viaGRPC(grpcFrame(threeSpans(), 0)),
		"gRPC with gzip":    viaGRPC(grpcFrame(gzipped(threeSpans()), 1)),
		"HTTP":              viaHTTP(threeSpans(), ""),
		"HTTP with gzip":    viaHTTP(gzipped(threeSpans()), "gzip"),
		"Zipkin":            viaZipkin([]byte(threeZipkinSpans), ""),
		"Zipkin with gzip":  viaZipkin(gzipped([]byte(threeZipkinSpans)), "gzip"),
		"HTTP and identity": viaHTTP(threeSpans(), "identity"),
	}
}

// outcome is an answer's meaning, alike for all protocols.
func outcome(a answer) string {
	switch {
	case a.status == http.StatusOK && a.grpcStatus == "0" && a.body == string(make([]byte, framePrefix)),
		a.status == http.StatusOK && a.grpcStatus == "" && a.body == "",
		a.status == http.StatusAccepted && a.body == "":
		return "accepted"
	case a.status == http.StatusServiceUnavailable, a.grpcStatus == "14":
		return "unavailable"
	case a.status == http.StatusBadRequest, a.grpcStatus == "3":
		return "malformed"
	case a.status == http.StatusRequestEntityTooLarge, a.grpcStatus == "8":
		return "too large"
	case a.status == http.StatusUnsupportedMediaType, a.grpcStatus == "12":
		return "unsupported"
	}
	return strings.TrimSpace(strings.Join([]string{http.StatusText(a.status), a.grpcStatus, a.body}, " "))
}

func readSpans(read func([]byte, sample, []rawSpan) (int, []rawSpan, error), message []byte) (int, error) {
	spans, _, err := read(message, 0, nil)
	return spans, err
}
