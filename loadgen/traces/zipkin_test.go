package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// zipkinSpan is a span of Zipkin's v2 format.
type zipkinSpan struct {
	TraceID       string            `json:"traceId"`
	ID            string            `json:"id"`
	ParentID      string            `json:"parentId"`
	Kind          string            `json:"kind"`
	Name          string            `json:"name"`
	Timestamp     int64             `json:"timestamp"`
	Duration      int64             `json:"duration"`
	LocalEndpoint map[string]string `json:"localEndpoint"`
	Tags          map[string]string `json:"tags"`
}

func TestZipkinSpansSayWhatOTLPSpansSay(t *testing.T) {
	p := realistic()
	p.Clients, p.SiblingProbability = bounds{2, 2}, 0.3
	p.IncompleteProbability, p.RiskyProbability, p.ErrorProbability = 0.3, 0.5, 0.5
	traces := several(p, 40)
	for client := range 2 {
		b := newBody()
		spans := encodeZipkin(b, traces, client)
		var found []zipkinSpan
		if err := json.Unmarshal(b.bytes(), &found); err != nil {
			t.Fatalf("%v: %s", err, b.bytes())
		}
		resource := byPdata(traces, client).Traces().ResourceSpans().At(0)
		want := resource.ScopeSpans().At(0).Spans()
		if len(found) != want.Len() || spans != want.Len() {
			t.Fatalf("client %d: %d spans, says %d, want %d", client, len(found), spans, want.Len())
		}
		for i, each := range found {
			if expected := fmt.Sprintf("%+v", zipkinOf(want.At(i), client)); fmt.Sprintf("%+v", each) != expected {
				t.Errorf("client %d, span %d: %+v, want %s", client, i, each, expected)
			}
		}
	}
}

// zipkinOf is what Zipkin's format has of an OTLP span.
func zipkinOf(s ptrace.Span, client int) zipkinSpan {
	id, parent, trace := s.SpanID(), s.ParentSpanID(), s.TraceID()
	made := zipkinSpan{
		TraceID: hex.EncodeToString(trace[:]), ID: hex.EncodeToString(id[:]), Name: s.Name(),
		Timestamp:     int64(s.StartTimestamp()) / 1000,
		Duration:      max(1, int64(s.EndTimestamp()-s.StartTimestamp())/1000),
		LocalEndpoint: map[string]string{"serviceName": services[client]}, Tags: map[string]string{},
	}
	if s.Kind() == ptrace.SpanKindServer {
		made.Kind = "SERVER"
	}
	if !parent.IsEmpty() {
		made.ParentID = hex.EncodeToString(parent[:])
	}
	s.Attributes().Range(func(key string, value pcommon.Value) bool {
		made.Tags[key] = value.Str()
		return true
	})
	if s.Status().Code() == ptrace.StatusCodeError {
		made.Tags["error"] = "true"
	}
	return made
}

func TestABodyCanCarryOneFormatAfterTheOther(t *testing.T) {
	traces := several(tenSpans(), 3)
	b := newBody()
	for range 3 {
		encodeZipkin(b, traces, 0)
		if encodeOTLP(b, traces, 0) != 30 {
			t.Error("not 30 spans")
		}
		if parts, err := tally(b.bytes(), nil); err != nil || len(parts) != 3 {
			t.Errorf("%d traces (%v)", len(parts), err)
		}
	}
}
