package main

import (
	"bytes"
	"os"
	"testing"
)

func TestOTLPSpansAreCountedThroughResourcesAndScopes(t *testing.T) {
	for name, c := range map[string]struct {
		request []byte
		want    int
	}{
		"none":                 {nil, 0},
		"an empty resource":    {field(1), 0},
		"an empty span":        {field(1, field(2, field(2))), 1},
		"three":                {threeSpans(), 3},
		"fields of the future": {bytes.Join([][]byte{threeSpans(), field(999, []byte{0xff}), {7<<3 | fixed32, 1, 2, 3, 4, 6<<3 | varint, 0x80, 1}}, nil), 3},
	} {
		if got, err := readSpans(readOTLP, c.request); err != nil || got != c.want {
			t.Errorf("%s: %d spans, error %v", name, got, err)
		}
	}
}

// Two requests of the OpenTelemetry Java agent 2.33.1, one after the other, which protobuf takes as one. OpenTelemetry's own
// decoder finds 22 and 6 spans in them.
func TestSpansOfARealAgentAreCounted(t *testing.T) {
	request, err := os.ReadFile("testdata/otel-agent.pb")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readSpans(readOTLP, request); err != nil || got != 28 {
		t.Errorf("%d spans, error %v", got, err)
	}
}

func TestWhatIsNotAnOTLPRequestIsAnError(t *testing.T) {
	whole := field(1, field(2, field(2, anySpan())))
	for length := 1; length < len(whole); length++ {
		if _, err := readSpans(readOTLP, whole[:length]); err == nil {
			t.Errorf("the first %d bytes of %d are taken", length, len(whole))
		}
	}
	tenBytes := bytes.Repeat([]byte{0xff}, 10)
	for name, request := range map[string][]byte{
		"text":                          []byte("not protobuf"),
		"JSON":                          []byte(`{"resourceSpans":[]}`),
		"field number 0":                {0, 0},
		"resource spans as a number":    {1<<3 | varint, 1},
		"a group":                       {9<<3 | 3, 9<<3 | 4},
		"a varint that is too long":     append([]byte{9<<3 | varint}, tenBytes...),
		"a length that is too long":     append([]byte{9<<3 | lengthDelimited}, tenBytes...),
		"a length beyond all memory":    {9<<3 | lengthDelimited, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
		"a span whose field is cut off": field(1, field(2, field(2, []byte{5<<3 | lengthDelimited, 9, 'x'}))),
	} {
		if _, err := readSpans(readOTLP, request); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestZipkinSpansAreTheObjectsOfTheList(t *testing.T) {
	for text, want := range map[string]int{`[]`: 0, ` [ {} ] `: 1, threeZipkinSpans: 3} {
		if got, err := readSpans(readZipkin, []byte(text)); err != nil || got != want {
			t.Errorf("%s: %d spans, error %v", text, got, err)
		}
	}
	for _, text := range []string{``, `null`, `{}`, `[1]`, `[null]`, `[{}`, `[{}] []`, `[{"a":}]`, `["{}"]`} {
		if _, err := readSpans(readZipkin, []byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
