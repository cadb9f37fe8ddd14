package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// byPdata is what one client sends of the traces, built with the Collector's own library.
func byPdata(traces []trace, client int) ptraceotlp.ExportRequest {
	built := ptrace.NewTraces()
	resource := built.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr(serviceName, services[client])
	scope := resource.ScopeSpans().AppendEmpty()
	scope.Scope().SetName(scopeName)
	for _, t := range traces {
		for index, s := range t.spans {
			if s.client != client || index == t.missing {
				continue
			}
			to := scope.Spans().AppendEmpty()
			to.SetTraceID(pcommon.TraceID(t.id))
			to.SetSpanID(pcommon.SpanID(s.id))
			to.SetKind(ptrace.SpanKindServer)
			if s.parent != none {
				to.SetParentSpanID(pcommon.SpanID(t.spans[s.parent].id))
				to.SetKind(ptrace.SpanKindInternal)
			}
			to.SetName(spanNames[index%len(spanNames)])
			to.SetStartTimestamp(pcommon.Timestamp(t.begin + s.start.Nanoseconds()))
			to.SetEndTimestamp(pcommon.Timestamp(t.begin + s.end.Nanoseconds()))
			to.Attributes().EnsureCapacity(t.attributes)
			seed := t.values + uint64(index)<<32
			for a := range t.attributes {
				to.Attributes().PutStr(attributeKeys[a], letters(t.attributeBytes, seed+uint64(a)))
			}
			if index == t.risky {
				to.Attributes().PutStr(riskyKey, letters(riskyBytes, seed+uint64(t.attributes)))
			}
			if index == t.failed {
				to.Status().SetCode(ptrace.StatusCodeError)
			}
		}
	}
	return ptraceotlp.NewExportRequestFromTraces(built)
}

func letters(length int, seed uint64) string {
	into := make([]byte, length)
	fillLetters(into, seed)
	return string(into)
}

// several draws a request's traces.
func several(p plan, count int) []trace {
	traces := make([]trace, count)
	for i := range traces {
		traces[i] = drawn(p, 1, 0, uint64(i))
		traces[i].begin = time.Now().UnixNano()
	}
	return traces
}

func TestRequestsAreByteForByteThoseOfTheCollectorsLibrary(t *testing.T) {
	everything := realistic()
	everything.Clients, everything.SiblingProbability, everything.AttributeBytes = bounds{3, 3}, 0.3, bounds{0, 300}
	everything.IncompleteProbability, everything.RiskyProbability, everything.ErrorProbability = 0.3, 0.5, 0.5
	large := plan{Spans: bounds{200, 300}, Attributes: bounds{50, 200}, AttributeBytes: bounds{0, 100}, Clients: bounds{1, 1}}
	long := plan{Spans: bounds{1, 3}, Attributes: bounds{1, 2}, AttributeBytes: bounds{20_000, 60_000}, Clients: bounds{1, 1}}
	for name, c := range map[string]struct {
		plan  plan
		count int
	}{
		"one trace": {realistic(), 1}, "many traces": {realistic(), 50}, "everything": {everything, 100},
		"large": {large, 2}, "long values": {long, 3}, "no trace": {realistic(), 0},
	} {
		traces, w := several(c.plan, c.count), writer{buffer: make([]byte, 16)}
		for client := range 3 {
			spans := w.request(traces, client)
			built := byPdata(traces, client)
			want, err := built.MarshalProto()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(w.bytes(), want) {
				t.Errorf("%s, client %d: %d bytes differ from pdata's %d", name, client, w.written(), len(want))
			}
			if found := built.Traces().SpanCount(); spans != found {
				t.Errorf("%s, client %d: says %d spans, has %d", name, client, spans, found)
			}
		}
	}
}

func TestASpanHasTheRoomThatThePlanCounts(t *testing.T) {
	for _, c := range [][2]int{{0, 0}, {1, 0}, {10, 16}, {maxAttributes, 300}, {3, maxAttributeBytes}} {
		p := plan{
			Spans: bounds{10, 10}, Attributes: bounds{c[0], c[0]}, AttributeBytes: bounds{c[1], c[1]}, Clients: bounds{1, 1},
			RiskyProbability: 1, ErrorProbability: 1,
		}
		w := writer{buffer: make([]byte, 16)}
		w.request(several(p, 1), 0)
		if w.written() > resourceBytes+10*spanBytes(c[0], c[1]) {
			t.Errorf("%d attributes of %d bytes: %d bytes", c[0], c[1], w.written())
		}
	}
}

func TestValuesAreLetters(t *testing.T) {
	for length := range 40 {
		found := letters(length, 7)
		if len(found) != length || strings.Trim(found, "abcdefghijklmnop") != "" {
			t.Errorf("%q", found)
		}
	}
	if letters(16, 1) == letters(16, 2) {
		t.Error("two seeds have the same letters")
	}
}

// tenSpans is the plan of the benchmark.
func tenSpans() plan {
	return plan{Spans: bounds{10, 10}, Attributes: bounds{2, 2}, AttributeBytes: bounds{16, 16}, Clients: bounds{1, 1}}
}

// BenchmarkTrace is one trace of ten spans with two attributes each: drawn, identified, and encoded, in requests of 100.
func BenchmarkTrace(b *testing.B) {
	d, ids := newDrawer(tenSpans(), 1), newIdentifier(newLoadKey())
	w, traces := writer{buffer: make([]byte, 16)}, make([]trace, 100)
	for i := 0; b.Loop(); i++ {
		t := &traces[i%len(traces)]
		d.draw(0, uint64(i), t)
		ids.identify(t)
		if i%len(traces) == len(traces)-1 {
			w.request(traces, 0)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10, "ns/span")
}

// BenchmarkTraceByPdata is the same with the Collector's library.
func BenchmarkTraceByPdata(b *testing.B) {
	d, ids, traces := newDrawer(tenSpans(), 1), newIdentifier(newLoadKey()), make([]trace, 100)
	for i := 0; b.Loop(); i++ {
		t := &traces[i%len(traces)]
		d.draw(0, uint64(i), t)
		ids.identify(t)
		if i%len(traces) == len(traces)-1 {
			if _, err := byPdata(traces, 0).MarshalProto(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10, "ns/span")
}
