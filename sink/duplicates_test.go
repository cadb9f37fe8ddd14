package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// counting is a sink that counts duplicates.
func counting(limit int) *sink {
	s := newSink(behaviour{name: accept})
	s.seen = newSeenIDs(limit)
	return s
}

// withIDs is a request with a span of each ID.
func withIDs(ids ...int) []byte {
	var spans [][]byte
	for _, id := range ids {
		spans = append(spans, otlpSpan(aTrace, fmt.Sprintf("%016x", id), "", 2, 1))
	}
	return ofService("a1", spans...)
}

func TestSpansWhoseIDCameBeforeAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		bodies [][]int
		want   uint64
	}{
		"none":                             {[][]int{{1, 2}, {3}}, 0},
		"in one body":                      {[][]int{{1, 2, 1, 1}}, 2},
		"across bodies":                    {[][]int{{1, 2}, {2, 3}, {1}}, 2},
		"zeroes are no ID":                 {[][]int{{0, 0}, {0}}, 0},
		"as many between as the limit":     {[][]int{{1, 2, 3, 4}, {5, 6, 7, 8}, {4}}, 1},
		"twice as many as the limit known": {[][]int{{1, 2, 3, 4, 5, 6, 7, 8}, {1}}, 1},
		"beyond that":                      {[][]int{{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1}}, 0},
	} {
		s, spans := counting(4), 0
		for _, ids := range c.bodies {
			post(s, t.Context(), withIDs(ids...))
			spans += len(ids)
		}
		if got := s.counters.duplicateSpans.Load(); got != c.want {
			t.Errorf("%s: %d duplicates, want %d", name, got, c.want)
		}
		if got := s.counters.acceptedSpans.Load(); got != uint64(spans) {
			t.Errorf("%s: %d accepted, want %d", name, got, spans)
		}
	}
}

func TestManyIDsAreKnownWithinTheLimitOnly(t *testing.T) {
	const limit = 1 << 10
	s := newSeenIDs(limit)
	var ids []uint64
	for i := range 8 * limit {
		ids = append(ids, uint64(i+1))
	}
	for begin := 0; begin < len(ids); begin += limit {
		if got := s.add(ids[begin : begin+limit]); got != 0 {
			t.Errorf("%d of new IDs are known", got)
		}
		if got := s.add(ids[begin : begin+limit]); got != limit {
			t.Errorf("%d of %d are known", got, limit)
		}
	}
	if got := s.add(ids[:limit]); got != 0 {
		t.Errorf("%d of the first are known", got)
	}
}

func TestASpanThatWasRefusedIsNoDuplicateWhenItComesAgain(t *testing.T) {
	s, sent := counting(4), withIDs(1)
	refusing := must(newBehaviour(refuse, 0, 0))
	s.behaviour.Store(&refusing)
	post(s, t.Context(), sent)
	accepting := must(newBehaviour(accept, 0, 0))
	s.behaviour.Store(&accepting)
	for _, want := range []uint64{0, 1} {
		post(s, t.Context(), sent)
		if got := s.counters.duplicateSpans.Load(); got != want {
			t.Errorf("%d duplicates, want %d", got, want)
		}
	}
}

func TestDuplicatesAreShownIfTheyAreCounted(t *testing.T) {
	shown := func(s *sink) string {
		post(s, t.Context(), withIDs(1, 1))
		w := httptest.NewRecorder()
		s.showCounters(w, nil)
		return w.Body.String()
	}
	if got := shown(counting(4)); !strings.Contains(got, `"accepted_spans":2,"duplicate_spans":1,`) {
		t.Error(got)
	}
	if got := shown(newSink(behaviour{name: accept})); strings.Contains(got, "duplicate") {
		t.Error(got)
	}
}

func TestDuplicatesAreCountedOverGRPCAndNotInZipkinsProtocol(t *testing.T) {
	s := start(t, accept, time.Second)
	s.sink.seen = newSeenIDs(4)
	for range 2 {
		s.send(viaGRPC(grpcFrame(withIDs(1), 0)))
		s.send(viaZipkin([]byte(threeZipkinSpans), ""))
	}
	s.expectSpans(8, 0)
	if got := s.sink.counters.duplicateSpans.Load(); got != 1 {
		t.Errorf("%d duplicates", got)
	}
}

func TestTheSpanIDsOfARealAgentAreFound(t *testing.T) {
	request, err := os.ReadFile("testdata/otel-agent.pb")
	if err != nil {
		t.Fatal(err)
	}
	_, found, err := readOTLP(request, 0, nil)
	ids := spanIDs(request, nil)
	if err != nil || len(ids) != len(found) {
		t.Fatalf("%d IDs of %d spans, error %v", len(ids), len(found), err)
	}
	for i, raw := range found {
		s, err := raw.decode(raw.service, raw.content)
		if id := fmt.Sprintf("%016x", ids[i]); err != nil || s.ID != id {
			t.Errorf("%s, want %s, error %v", id, s.ID, err)
		}
	}
}

func TestASpanWithoutAnIDOf8BytesHasNone(t *testing.T) {
	for name, span := range map[string][]byte{
		"empty": nil, "none": anySpan(), "short": field(spanIDField, []byte{1}), "a number": number(spanIDField, 1),
	} {
		if got := spanIDOf(span); got != 0 {
			t.Errorf("%s: %x", name, got)
		}
	}
}
