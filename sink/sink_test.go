package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tollbooth/internal/serve"
)

func TestEachProtocolIsAcceptedAndCounted(t *testing.T) {
	for name, r := range requests() {
		t.Run(name, func(t *testing.T) {
			s := start(t, accept, time.Second)
			for range 2 {
				if got := outcome(s.send(r)); got != "accepted" {
					t.Errorf("answer is %s", got)
				}
			}
			want := counts{Format: "tollbooth.sink", Version: 1, AcceptedSpans: 6, Requests: 2, Bytes: 2 * len(r.body)}
			if got := s.counters(); got != want {
				t.Errorf("counters are %+v, want %+v", got, want)
			}
		})
	}
}

func TestASinkThatRefusesCountsWhatItRefuses(t *testing.T) {
	for name, r := range requests() {
		t.Run(name, func(t *testing.T) {
			s := start(t, refuse, time.Second)
			if got := outcome(s.send(r)); got != "unavailable" {
				t.Errorf("answer is %s", got)
			}
			s.expectSpans(0, 3)
		})
	}
}

func TestASlowSinkAnswersLateAndAccepts(t *testing.T) {
	const delay = 200 * time.Millisecond
	for name, r := range requests() {
		t.Run(name, func(t *testing.T) {
			s := start(t, slow, delay)
			began := time.Now()
			if got := outcome(s.send(r)); got != "accepted" {
				t.Errorf("answer is %s", got)
			}
			if took := time.Since(began); took < delay {
				t.Errorf("it took %v", took)
			}
			s.expectSpans(3, 0)
			if c := s.counters(); c.DelayedRequests != 1 {
				t.Errorf("counters are %+v", c)
			}
		})
	}
}

func TestASenderThatNoLongerWaitsIsRejected(t *testing.T) {
	for name, r := range requests() {
		t.Run(name, func(t *testing.T) {
			s := start(t, slow, longestDelay)
			ctx, giveUp := context.WithCancel(context.Background())
			ended := make(chan error)
			go func() {
				_, err := s.trySend(ctx, r)
				ended <- err
			}()
			s.until("the request", func(c counts) bool { return c.Bytes == len(r.body) })
			giveUp()
			if err := <-ended; err == nil {
				t.Error("the sink has answered")
			}
			s.until("the spans to be counted", func(c counts) bool { return c.RefusedSpans == 3 })
			s.expectSpans(0, 3)
		})
	}
}

func TestTheEndAnswersThoseWhoWait(t *testing.T) {
	for name, r := range requests() {
		t.Run(name, func(t *testing.T) {
			s := start(t, slow, longestDelay)
			ended := make(chan string)
			go func() { ended <- outcome(s.send(r)) }()
			s.until("the request", func(c counts) bool { return c.Bytes == len(r.body) })
			began := time.Now()
			if err := s.stop(); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took >= serve.ShutDownLimit {
				t.Errorf("the end took %v", took)
			}
			if got := <-ended; got != "unavailable" {
				t.Errorf("answer is %s", got)
			}
		})
	}
}

func TestTheBehaviourChangesWhileTheSinkRuns(t *testing.T) {
	s := start(t, accept, time.Second)
	for _, c := range []struct{ change, outcome string }{
		{`{"behaviour":"refuse"}`, "unavailable"},
		{`{"behaviour":"slow","delay_ms":1}`, "accepted"},
		{`{"behaviour":"limited","spans_per_s":1000}`, "accepted"},
		{`{"behaviour":"accept","delay_ms":0}`, "accepted"},
	} {
		if got := s.send(changeTo(c.change)); got.status != http.StatusNoContent {
			t.Errorf("%s: answer is %+v", c.change, got)
		}
		if got := outcome(s.send(viaHTTP(threeSpans(), ""))); got != c.outcome {
			t.Errorf("%s: spans are %s", c.change, got)
		}
	}
	s.expectSpans(9, 3)
}

func TestASinkBehavesOtherwiseTowardsOneSender(t *testing.T) {
	for name, r := range requests() {
		t.Run(name, func(t *testing.T) {
			s := start(t, accept, time.Second)
			s.send(changeTo(`{"behaviour":"refuse","sender":"collector-a"}`))
			for _, c := range []struct{ sender, outcome string }{
				{"collector-b", "accepted"},
				{"", "accepted"},
				{"collector-a", "unavailable"},
			} {
				r.header[senderHeader] = c.sender
				if got := outcome(s.send(r)); got != c.outcome {
					t.Errorf("sender %q: answer is %s, want %s", c.sender, got, c.outcome)
				}
			}
			s.expectSpans(6, 3)
		})
	}
}

func changeTo(text string) request {
	return request{port: adminPort, method: http.MethodPut, path: "/behaviour", body: []byte(text)}
}

func TestAWrongChangeIsRejectedAndChangesNothing(t *testing.T) {
	s := start(t, accept, time.Second)
	for change, want := range map[string]string{
		`{"behaviour":"slwo"}`:                              `there is no behaviour "slwo"; give one of accept, slow, limited, refuse`,
		`{"behaviour":"slow"}`:                              "a delay of 0s is not possible",
		`{"behaviour":"limited"}`:                           "0 spans per second are not possible",
		`{"behaviour":"slow","delay_ms":-1}`:                "a delay of -1ms is not possible",
		`{"behaviour":"slow","delay_ms":600001}`:            "at most 10m0s",
		`{"behaviour":"slow","delay_ms":9223372036854776}`:  "cannot unmarshal",
		`{"behaviour":"refuse","delay":"1s"}`:               `unknown field "delay"`,
		`refuse`:                                            `give {"behaviour": "slow", "delay_ms": 10000}`,
		`{"behaviour":"` + strings.Repeat("x", 2000) + `"}`: "too large",
	} {
		if got := s.send(changeTo(change)); got.status != http.StatusBadRequest || !strings.Contains(got.body, want) {
			t.Errorf("%s: answer is %+v", change, got)
		}
	}
	if got := outcome(s.send(viaHTTP(threeSpans(), ""))); got != "accepted" {
		t.Errorf("spans are %s", got)
	}
}

func TestMalformedRequestsAreRejectedAndCountNoSpans(t *testing.T) {
	cut := threeSpans()[:20]
	for name, r := range map[string]request{
		"gRPC, cut off":               viaGRPC(grpcFrame(cut, 0)),
		"gRPC, shorter than its size": viaGRPC(grpcFrame(threeSpans(), 0)[:20]),
		"gRPC, two messages":          viaGRPC(append(grpcFrame(threeSpans(), 0), grpcFrame(threeSpans(), 0)...)),
		"gRPC, no frame":              viaGRPC(nil),
		"gRPC, unknown flag":          viaGRPC(grpcFrame(threeSpans(), 2)),
		"gRPC, not gzip":              viaGRPC(grpcFrame(threeSpans(), 1)),
		"HTTP, cut off":               viaHTTP(cut, ""),
		"HTTP, not gzip":              viaHTTP(threeSpans(), "gzip"),
		"HTTP, gzip cut off":          viaHTTP(gzipped(threeSpans())[:30], "gzip"),
		"Zipkin, cut off":             viaZipkin([]byte(threeZipkinSpans)[:20], ""),
		"Zipkin, not gzip":            viaZipkin([]byte(threeZipkinSpans), "gzip"),
	} {
		s := start(t, accept, time.Second)
		if got := outcome(s.send(r)); got != "malformed" {
			t.Errorf("%s: answer is %s", name, got)
		}
		if got := s.counters(); got.AcceptedSpans+got.RefusedSpans != 0 || got.Requests != 1 || got.Bytes != len(r.body) {
			t.Errorf("%s: counters are %+v", name, got)
		}
	}
}

func TestARejectionOverHTTPSaysWhyInOTLPsOwnForm(t *testing.T) {
	s := start(t, refuse, time.Second)
	if got, want := s.send(viaHTTP(nil, "")).body, string(field(2, []byte(setToRefuse.reason))); got != want {
		t.Errorf("body is %q, want %q", got, want)
	}
}

func TestWhatUnpacksToTooMuchIsRejected(t *testing.T) {
	bomb := gzipped(make([]byte, 100<<20))
	s := start(t, accept, time.Second)
	for name, r := range map[string]request{
		"gRPC": viaGRPC(grpcFrame(bomb, 1)), "HTTP": viaHTTP(bomb, "gzip"), "Zipkin": viaZipkin(bomb, "gzip"),
	} {
		if got := outcome(s.send(r)); got != "too large" {
			t.Errorf("%s: answer is %s", name, got)
		}
	}
}

func TestABodyIsReadUpToTheLimit(t *testing.T) {
	b := &bodyReader{}
	if body, rejected := b.receive(bytes.NewReader(make([]byte, bodyLimit))); rejected != nil || len(body) != bodyLimit {
		t.Errorf("%d bytes, %v", len(body), rejected)
	}
	if _, rejected := b.receive(bytes.NewReader(make([]byte, bodyLimit+1))); rejected != tooLarge {
		t.Errorf("%v", rejected)
	}
}

func TestOtherTypesEncodingsAndPathsAreRejected(t *testing.T) {
	s := start(t, accept, time.Second)
	with := func(r request, name, value string) request {
		r.header[name] = value
		return r
	}
	for name, r := range map[string]request{
		"gRPC, other encoding":   with(viaGRPC(grpcFrame(threeSpans(), 1)), "Grpc-Encoding", "zstd"),
		"gRPC, other method":     {port: grpcPort, path: strings.Replace(exportPath, "trace", "metrics", 1), header: viaGRPC(nil).header},
		"gRPC port, other type":  with(viaGRPC(threeSpans()), "Content-Type", protobufType),
		"HTTP, JSON":             with(viaHTTP([]byte("{}"), ""), "Content-Type", "application/json"),
		"HTTP, no type":          with(viaHTTP(threeSpans(), ""), "Content-Type", ""),
		"HTTP, other encoding":   viaHTTP(threeSpans(), "zstd"),
		"Zipkin, Thrift":         with(viaZipkin(threeSpans(), ""), "Content-Type", "application/x-thrift"),
		"Zipkin, other encoding": viaZipkin([]byte(threeZipkinSpans), "br"),
	} {
		if got := outcome(s.send(r)); got != "unsupported" {
			t.Errorf("%s: answer is %s", name, got)
		}
	}
	for status, r := range map[int]request{
		http.StatusNotFound:         {port: httpPort, path: "/v1/metrics", header: viaHTTP(nil, "").header},
		http.StatusMethodNotAllowed: {port: zipkinPort, path: "/api/v2/spans", method: http.MethodGet},
		http.StatusOK:               {port: adminPort, path: "/healthz", method: http.MethodGet},
	} {
		if got := s.send(r); got.status != status {
			t.Errorf("%s: answer is %+v", r.path, got)
		}
	}
	s.expectSpans(0, 0)
}

// post sends spans to a sink without a network.
func post(s *sink, ctx context.Context, spans []byte) int {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/traces", bytes.NewReader(spans))
	r.Header.Set("Content-Type", protobufType)
	w := httptest.NewRecorder()
	s.handler(otlpHTTP)(w, r)
	return w.Code
}

func TestMoreRequestsThanTheLimitAreRejectedAtOnce(t *testing.T) {
	s := newSink(behaviour{name: accept})
	for range requestLimit {
		s.inFlight <- struct{}{}
	}
	if got := post(s, context.Background(), threeSpans()); got != http.StatusServiceUnavailable {
		t.Errorf("answer is %d", got)
	}
	<-s.inFlight
	if got := post(s, context.Background(), threeSpans()); got != http.StatusOK {
		t.Errorf("answer is %d", got)
	}
}

func TestABodyWaitsForAReader(t *testing.T) {
	s := newSink(behaviour{name: accept})
	var taken []*bodyReader
	for range readerLimit {
		taken = append(taken, <-s.readers)
	}
	ctx, giveUp := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer giveUp()
	if got := post(s, ctx, threeSpans()); got != http.StatusServiceUnavailable {
		t.Errorf("answer is %d", got)
	}
	s.readers <- taken[0]
	if got := post(s, context.Background(), threeSpans()); got != http.StatusOK || s.counters.acceptedSpans.Load() != 3 {
		t.Errorf("answer is %d, %d spans", got, s.counters.acceptedSpans.Load())
	}
}
