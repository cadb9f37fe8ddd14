package main

import (
	"bytes"
	"slices"
	"testing"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// pdataParts is what pdata finds in a request; an error if it cannot read it, or a span has no trace ID.
func pdataParts(message []byte) ([]part, error) {
	request := ptraceotlp.NewExportRequest()
	if err := request.UnmarshalProto(message); err != nil {
		return nil, err
	}
	var parts []part
	for _, resource := range request.Traces().ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, s := range scope.Spans().All() {
				id := traceID(s.TraceID())
				if s.TraceID().IsEmpty() {
					return nil, errTraceID
				}
				if last := len(parts) - 1; last >= 0 && parts[last].id == id {
					parts[last].spans++
				} else {
					parts = append(parts, part{id, 1})
				}
			}
		}
	}
	return parts, nil
}

func encoded(p plan, count int) []byte {
	w := writer{buffer: make([]byte, 16)}
	w.request(several(p, count), 0)
	return w.bytes()
}

func TestSumsOfWeightsAreTheSameForTheSameSpansOnly(t *testing.T) {
	sum := func(parts ...part) (sum uint64) {
		for _, p := range parts {
			sum += p.weight()
		}
		return sum
	}
	traces := several(realistic(), 2)
	a, b := traces[0].id, traces[1].id
	sent := sum(part{a, 3}, part{b, 3})
	if sum(part{b, 2}, part{a, 3}, part{b, 1}) != sent {
		t.Error("the same spans in other parts have another sum")
	}
	for _, other := range [][]part{{}, {{a, 3}}, {{a, 6}}, {{a, 4}, {b, 2}}, {{a, 3}, {b, 4}}, {{a, 3}, {b, 3}, {b, 3}}} {
		if sum(other...) == sent {
			t.Errorf("%v have the same sum", other)
		}
	}
}

func TestPartsAreThoseThatPdataFinds(t *testing.T) {
	for _, count := range []int{0, 1, 2, 50} {
		message := encoded(realistic(), count)
		want, err := pdataParts(message)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := tally(message, nil); err != nil || !slices.Equal(found, want) {
			t.Errorf("%d traces: %d parts, not %d (%v)", count, len(found), len(want), err)
		}
	}
}

func TestARequestThatIsCutOffIsAnError(t *testing.T) {
	p := realistic()
	p.Spans = bounds{3, 3}
	message := encoded(p, 1)
	for length := 1; length < len(message); length++ {
		if _, err := tally(message[:length], nil); err == nil {
			t.Errorf("the first %d of %d bytes are accepted", length, len(message))
		}
	}
}

func TestASpanWithoutATraceIDIsAnError(t *testing.T) {
	for name, message := range map[string][]byte{
		"none":      {tagResourceSpans, 4, tagScopeSpans, 2, tagSpan, 0},
		"too short": {tagResourceSpans, 7, tagScopeSpans, 5, tagSpan, 3, tagTraceID, 1, 7},
		"a number":  {tagResourceSpans, 6, tagScopeSpans, 4, tagSpan, 2, 1 << 3, 7},
	} {
		if _, err := tally(message, nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// FuzzTally checks that nothing makes it crash, and that it finds in all that pdata accepts what pdata finds.
func FuzzTally(f *testing.F) {
	f.Add(encoded(realistic(), 3))
	f.Add(encoded(realistic(), 1)[:40])
	f.Add([]byte("not OTLP"))
	f.Add([]byte{tagResourceSpans, 4, tagScopeSpans, 2, tagSpan, 0})
	f.Fuzz(func(t *testing.T, message []byte) {
		if bytes.Contains(message, []byte{0xc2, 0x3e}) {
			t.Skip("a field that OTLP 0.15 removed, and pdata still reads")
		}
		found, err := tally(message, nil)
		want, wantErr := pdataParts(message)
		if err == nil && wantErr == nil && !slices.Equal(found, want) {
			t.Errorf("%d parts, pdata finds %d", len(found), len(want))
		}
	})
}
