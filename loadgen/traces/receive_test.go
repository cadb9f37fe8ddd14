package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

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
		{protobufType, "gzip", zipped(t, make([]byte, receiveLimit+1))},
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

func TestWhatIsSentElsewhereIsNotMalformed(t *testing.T) {
	e := startEndpoint(t)
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{http.MethodPost, tracesPath, http.StatusOK}, // a connection begins with a POST
		{http.MethodPost, "/v1/metrics", http.StatusNotFound},
		{http.MethodGet, tracesPath, http.StatusMethodNotAllowed},
	} {
		request, err := http.NewRequest(c.method, "http://"+e.httpAddress+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", protobufType)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode != c.want {
			t.Errorf("%s %s: status %d", c.method, c.path, response.StatusCode)
		}
	}
	client := newRawClient(t)
	if ended := client.export(e.grpcAddress, exportMethod+"Metrics", "", prefixed(0, nil)); ended != codes.Unimplemented {
		t.Errorf("another RPC: %v", ended)
	}
	if ended := client.export(e.grpcAddress, exportMethod, "", prefixed(0, nil)); ended != codes.OK {
		t.Errorf("an empty request: %v", ended)
	}
	if e.rejected.Load() != 0 || e.requests.Load() != 2 {
		t.Errorf("%d requests, %d malformed", e.requests.Load(), e.rejected.Load())
	}
}

// rawClient sends over gRPC what no client of gRPC would.
type rawClient struct {
	t testing.TB
	*http.Client
}

func newRawClient(t testing.TB) rawClient {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := rawClient{t, &http.Client{Transport: &http.Transport{Protocols: protocols}, Timeout: 10 * time.Second}}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// export returns how an RPC with this body ended.
func (c rawClient) export(address, method, encoding string, body []byte) codes.Code {
	c.t.Helper()
	// A reader of unknown length, so that its end is a frame of its own: without one, grpc-go waits for it.
	request, err := http.NewRequest(http.MethodPost, "http://"+address+method, io.MultiReader(bytes.NewReader(body)))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/grpc")
	if encoding != "" {
		request.Header.Set("Grpc-Encoding", encoding)
	}
	response, err := c.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	const name = "Grpc-Status"
	code, err := strconv.Atoi(cmp.Or(response.Header.Get(name), response.Trailer.Get(name)))
	if err != nil {
		c.t.Fatal(err)
	}
	return codes.Code(code)
}

// prefixed is a message with gRPC's prefix.
func prefixed(compressed byte, message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{compressed}, uint32(len(message))), message...)
}

func TestMalformedRequestsOverGRPCAreCountedOnce(t *testing.T) {
	e, client := startEndpoint(t), newRawClient(t)
	good := encoded(realistic(), 5)
	rows := []struct {
		what, encoding string
		body           []byte
		want           codes.Code
	}{
		{"not OTLP", "", prefixed(0, []byte("not OTLP")), codes.Internal},
		{"not OTLP, packed", "gzip", prefixed(1, zipped(t, []byte("not OTLP"))), codes.Internal},
		{"not gzip", "gzip", prefixed(1, good), codes.Internal},
		{"gzip that is cut off", "gzip", prefixed(1, zipped(t, good)[:20]), codes.Internal},
		{"an unknown encoding", "br", prefixed(1, good), codes.Unimplemented},
		{"packed without an encoding", "", prefixed(1, zipped(t, good)), codes.Internal},
		{"too large", "", binary.BigEndian.AppendUint32([]byte{0}, receiveLimit+1), codes.ResourceExhausted},
		{"too large when unpacked", "gzip", prefixed(1, zipped(t, make([]byte, receiveLimit+1))), codes.ResourceExhausted},
		{"cut off", "", prefixed(0, good)[:20], codes.Unknown},
		{"no message", "", nil, codes.Unknown},
	}
	for i, c := range rows {
		if ended := client.export(e.grpcAddress, exportMethod, c.encoding, c.body); ended != c.want {
			t.Errorf("%s: %v", c.what, ended)
		}
		// Some are counted after the answer.
		eventually(t, c.what+" is counted once", func() bool { return e.rejected.Load() == uint64(i+1) })
	}
	if ended := client.export(e.grpcAddress, exportMethod, "gzip", prefixed(1, zipped(t, good))); ended != codes.OK {
		t.Errorf("a good one: %v", ended)
	}
	if e.requests.Load() != 1 || e.rejected.Load() != uint64(len(rows)) {
		t.Errorf("a good one: %d requests, %d malformed", e.requests.Load(), e.rejected.Load())
	}
}

func TestARequestThatIsBrokenOffIsNotMalformed(t *testing.T) {
	r := refusals{newReceiver()}
	defer r.stop()
	for code, want := range map[codes.Code]uint64{
		codes.Canceled: 0, codes.DeadlineExceeded: 0, codes.Unavailable: 0, codes.Internal: 1,
	} {
		r.rejected.Store(0)
		r.HandleRPC(r.TagRPC(context.Background(), nil), &stats.End{Error: status.Error(code, "")})
		if found := r.rejected.Load(); found != want {
			t.Errorf("%v: %d malformed", code, found)
		}
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
