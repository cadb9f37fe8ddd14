package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tollbooth/internal/clock"
)

// endpoint is a receiver at free ports, and what came to it.
type endpoint struct {
	*receiver
	grpcAddress, httpAddress string
	mutex                    sync.Mutex
	came                     []part
}

func startEndpoint(t testing.TB) *endpoint {
	t.Helper()
	e := &endpoint{receiver: newReceiver()}
	overGRPC, overHTTP := listen(t), listen(t)
	e.grpcAddress, e.httpAddress = overGRPC.Addr().String(), overHTTP.Addr().String()
	e.serve(overGRPC, overHTTP)
	t.Cleanup(e.stop)
	e.to.Store(&delivery{clock.New(), func(parts []part, _ int64) {
		e.mutex.Lock()
		defer e.mutex.Unlock()
		e.came = append(e.came, parts...)
	}})
	return e
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// openConnection opens one connection to an address.
func openConnection(t testing.TB, transport, address string, zip bool) connection {
	t.Helper()
	open := transports[transport].open
	if transport == "unary" {
		open = unary.open
	}
	opened, err := open(&opener{dialer: &dialer{target: address}, gzip: zip, buffer: smallBuffer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.close)
	return opened
}

func TestWhatIsSentComesBackByEachTransport(t *testing.T) {
	e := startEndpoint(t)
	for transport, address := range map[string]string{"grpc": e.grpcAddress, "unary": e.grpcAddress, "http": e.httpAddress} {
		for _, zip := range []bool{false, true} {
			connection := openConnection(t, transport, address, zip)
			traces := several(realistic(), 30)
			b := newBody()
			b.request(traces, 0)
			want, err := tally(b.bytes(), nil)
			if err != nil {
				t.Fatal(err)
			}
			e.came = nil
			if ended := connection.send(context.Background(), time.Second, b); ended != sentWell {
				t.Errorf("%s, gzip %v: %+v", transport, zip, ended)
			}
			e.mutex.Lock()
			if !slices.Equal(e.came, want) {
				t.Errorf("%s, gzip %v: %d parts came, %d were sent", transport, zip, len(e.came), len(want))
			}
			e.mutex.Unlock()
		}
	}
	if e.rejected.Load() != 0 || e.requests.Load() != 6 {
		t.Errorf("%d requests, %d malformed", e.requests.Load(), e.rejected.Load())
	}
}

func TestNothingIsDeliveredBetweenLoads(t *testing.T) {
	e := startEndpoint(t)
	e.to.Store(nil)
	if err := e.take(encoded(realistic(), 5)); err != nil || e.requests.Load() != 1 || len(e.came) != 0 {
		t.Errorf("%d requests, %d parts (%v)", e.requests.Load(), len(e.came), err)
	}
}

func TestMalformedRequestsAreCountedAndTheNextIsReceived(t *testing.T) {
	e := startEndpoint(t)
	good := encoded(realistic(), 5)
	over := func(contentType, encoding string, body []byte) int {
		request, err := http.NewRequest(http.MethodPost, "http://"+e.httpAddress+tracesPath, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", contentType)
		request.Header.Set("Content-Encoding", encoding)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		return response.StatusCode
	}
	for i, c := range []struct {
		contentType, encoding string
		body                  []byte
	}{
		{protobufType, "", []byte("not OTLP")},
		{protobufType, "gzip", good},
		{protobufType, "gzip", zipped(t, good)[:20]},
		{protobufType, "gzip", zipped(t, []byte("not OTLP"))},
		{protobufType, "br", good},
		{"application/json", "", []byte("{}")},
	} {
		if status := over(c.contentType, c.encoding, c.body); status != http.StatusBadRequest || e.rejected.Load() != uint64(i+1) {
			t.Errorf("case %d: status %d, %d malformed", i, status, e.rejected.Load())
		}
	}
	before := e.rejected.Load()
	b := newBody()
	b.reset()
	b.room(100)
	b.text(tagResourceSpans, "not resource spans")
	if ended := openConnection(t, "grpc", e.grpcAddress, false).send(context.Background(), time.Second, b); ended.outcome != sendError {
		t.Errorf("over gRPC: %+v", ended)
	}
	if e.rejected.Load() != before+1 {
		t.Errorf("over gRPC: %d malformed, not %d", e.rejected.Load(), before+1)
	}
	if status := over(protobufType, "gzip", zipped(t, good)); status != http.StatusOK || e.requests.Load() != 1 {
		t.Errorf("a good one: status %d, %d requests", status, e.requests.Load())
	}
}

func zipped(t testing.TB, message []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(message); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func TestAConnectionThatBringsGarbageIsCounted(t *testing.T) {
	e := startEndpoint(t)
	for i, address := range []string{e.grpcAddress, e.httpAddress} {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(connection, strings.Repeat("\x00garbage\r\n\r\n", 100)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "garbage is counted", func() bool { return e.rejected.Load() == uint64(i+1) })
		connection.Close()
	}
	eventually(t, "connections end", func() bool { return e.connections.Load() == 0 })
}

// eventually waits until something holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 10 s", what)
		}
	}
}

// FuzzReceive sends anything to the receiving port over HTTP: each request is either counted as received or as malformed.
func FuzzReceive(f *testing.F) {
	good := encoded(realistic(), 3)
	f.Add(protobufType, "", good)
	f.Add(protobufType, "gzip", zipped(f, good))
	f.Add(protobufType, "gzip", good)
	f.Add("application/json", "", []byte(`{"resourceSpans":[]}`))
	f.Fuzz(func(t *testing.T, contentType, encoding string, body []byte) {
		r := newReceiver()
		defer r.stop()
		request := httptest.NewRequest(http.MethodPost, tracesPath, bytes.NewReader(body))
		request.Header.Set("Content-Type", contentType)
		request.Header.Set("Content-Encoding", encoding)
		answer := httptest.NewRecorder()
		r.http.Handler.ServeHTTP(answer, request)
		if r.requests.Load()+r.rejected.Load() != 1 || (answer.Code == http.StatusOK) != (r.requests.Load() == 1) {
			t.Errorf("status %d, %d received, %d malformed", answer.Code, r.requests.Load(), r.rejected.Load())
		}
	})
}

// FuzzPort writes anything to the receiving ports. Whatever that is, the next trace is received.
func FuzzPort(f *testing.F) {
	e := startEndpoint(f)
	overGRPC, overHTTP := openConnection(f, "grpc", e.grpcAddress, false), openConnection(f, "http", e.httpAddress, false)
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	f.Add([]byte("\x00garbage"))
	f.Add([]byte(preface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"))
	f.Add([]byte(preface + "\x00\xff\xff\x01\x04\x00\x00\x00\x01garbage"))
	f.Add([]byte("POST /v1/traces HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"))
	f.Fuzz(func(t *testing.T, garbage []byte) {
		for _, address := range []string{e.grpcAddress, e.httpAddress} {
			connection, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = connection.Write(garbage) // the receiver may have closed it
			connection.Close()
		}
		for _, good := range []connection{overGRPC, overHTTP} {
			b := newBody()
			b.request(several(realistic(), 1), 0)
			if ended := good.send(context.Background(), time.Second, b); ended != sentWell {
				t.Errorf("after %q: %+v", garbage, ended)
			}
		}
	})
}
