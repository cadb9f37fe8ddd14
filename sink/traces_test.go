package main

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

func fixed(number int, value uint64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{byte(number<<3 | fixed64)}, value)
}

func number(field, value int) []byte { return []byte{byte(field<<3 | varint), byte(value)} }

func unhex(text string) []byte {
	id, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return id
}

// otlpSpan lasts 2 µs and has two attributes.
func otlpSpan(trace, id, parent string, kind, startNs int) []byte {
	return field(spanField,
		field(traceIDField, unhex(trace)), field(spanIDField, unhex(id)), field(parentIDField, unhex(parent)),
		field(nameField, []byte("GET")), number(kindField, kind),
		fixed(startField, uint64(startNs)), fixed(endField, uint64(startNs+2000)),
		field(spanAttributesField, field(keyField, []byte("a"))), field(spanAttributesField, field(keyField, []byte("b"))),
	)
}

func ofService(name string, spans ...[]byte) []byte {
	text := field(valueField, field(stringValueField, []byte(name)))
	attributes := [][]byte{
		field(resourceAttributesField, field(keyField, []byte("host.name")), field(valueField, field(stringValueField, []byte("h")))),
		field(resourceAttributesField, field(keyField, []byte("service.name")), text),
	}
	return field(resourceSpansField, field(resourceField, attributes...), field(scopeSpansField, spans...))
}

const aTrace = "0af7651916cd43dd8448eb211c80a001"

// traceOf returns a complete trace of two services, one request each: the service that is called sends first.
func traceOf(id string, startNs int) [2][]byte {
	return [2][]byte{
		ofService("a1", otlpSpan(id, "0000000000000003", "0000000000000002", 2, startNs+1000)),
		ofService("gateway", otlpSpan(id, "0000000000000001", "0000000000000000", 2, startNs), otlpSpan(id, "0000000000000002", "0000000000000001", 3, startNs+500)),
	}
}

func (s *stage) shownTrace() string {
	s.Helper()
	got := s.send(request{port: adminPort, method: http.MethodGet, path: "/trace"})
	if got.status != http.StatusOK {
		s.Fatal(got)
	}
	return strings.TrimSpace(got.body)
}

// expectTrace waits until a trace is shown, which is not at once.
func (s *stage) expectTrace(want string) {
	s.Helper()
	var got, wanted any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		s.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); got == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
		if err := json.Unmarshal([]byte(s.shownTrace()), &got); err != nil {
			s.Fatal(err)
		}
	}
	if !reflect.DeepEqual(got, wanted) {
		s.Errorf("trace is %v, want %v", got, wanted)
	}
}

const aRecord = `{"format":"tollbooth.trace","version":1,"trace_id":"` + aTrace + `","spans":[
 {"id":"0000000000000003","parent":"0000000000000002","service":"a1","name":"GET","kind":"server","start_ns":2000,"duration_ns":2000,"tags":2},
 {"id":"0000000000000001","parent":null,"service":"gateway","name":"GET","kind":"server","start_ns":1000,"duration_ns":2000,"tags":2},
 {"id":"0000000000000002","parent":"0000000000000001","service":"gateway","name":"GET","kind":"client","start_ns":%d,"duration_ns":2000,"tags":2}]}`

func TestACompleteTraceIsShownHoweverItsSpansCame(t *testing.T) {
	for name, send := range map[string]func([]byte) request{
		"gRPC":           func(body []byte) request { return viaGRPC(grpcFrame(body, 0)) },
		"gRPC with gzip": func(body []byte) request { return viaGRPC(grpcFrame(gzipped(body), 1)) },
		"HTTP":           func(body []byte) request { return viaHTTP(body, "") },
		"HTTP with gzip": func(body []byte) request { return viaHTTP(gzipped(body), "gzip") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, accept, time.Second)
			if got := s.shownTrace(); got != "null" {
				t.Errorf("trace before any span is %s", got)
			}
			for _, part := range traceOf(aTrace, 1000) {
				s.send(send(part))
			}
			s.expectTrace(fmt.Sprintf(aRecord, 1500))
		})
	}
}

func TestATraceOfZipkinIsShown(t *testing.T) {
	const called = `[{"traceId":"` + aTrace + `","id":"0000000000000003","parentId":"0000000000000002","kind":"SERVER","name":"GET",` +
		`"timestamp":2,"duration":2,"localEndpoint":{"serviceName":"a1"},"tags":{"a":"\"traceId\":\"1\"","traceId":"2"},"annotations":[{"value":"x"}]}]`
	const gateway = ` [ {"localEndpoint":{"serviceName":"gateway"},"tags":{"a":"}]","b":""},"name":"GET","id":"0000000000000001","kind":"SERVER",` +
		`"duration":2, "timestamp":1 , "traceId" : "` + aTrace + `"}, {"traceId":"` + aTrace + `","id":"0000000000000002",` +
		`"parentId":"0000000000000001","kind":"CLIENT","name":"GET","timestamp":1,"duration":2,"localEndpoint":{"serviceName":"gateway"},` +
		`"tags":{"a":"","b":""}}]`
	s := start(t, accept, time.Second)
	s.send(viaZipkin([]byte(called), ""))
	s.send(viaZipkin(gzipped([]byte(gateway)), "gzip"))
	s.expectSpans(3, 0)
	s.expectTrace(fmt.Sprintf(aRecord, 1000))
}

func TestTheSpansOfATraceAreShownThoughItIsNotComplete(t *testing.T) {
	s := start(t, accept, time.Second)
	spansOf := func(id string) answer {
		return s.send(request{port: adminPort, method: http.MethodGet, path: "/spans?trace=" + id})
	}
	s.send(viaHTTP(ofService("a1", otlpSpan(aTrace, "0000000000000003", "0000000000000002", 2, 2000)), ""))
	const found = `{"format":"tollbooth.trace","version":1,"trace_id":"` + aTrace + `","spans":[{"id":"0000000000000003",` +
		`"parent":"0000000000000002","service":"a1","name":"GET","kind":"server","start_ns":2000,"duration_ns":2000,"tags":2}]}`
	if got := spansOf(aTrace); strings.TrimSpace(got.body) != found {
		t.Errorf("found %+v", got)
	}
	if got := spansOf(aTrace[:31] + "2"); !strings.Contains(got.body, `"spans":[]`) {
		t.Errorf("of a trace that is not there: %+v", got)
	}
	for _, wrong := range []string{"", "1", aTrace + "00", "x" + aTrace[1:]} {
		if got := spansOf(wrong); got.status != http.StatusBadRequest || !strings.Contains(got.body, "32 hexadecimal digits") {
			t.Errorf("%q: answer is %+v", wrong, got)
		}
	}
}

func TestSpansThatAreNotAcceptedAtOnceAreNotKept(t *testing.T) {
	whole := traceOf(aTrace, 1000)
	for _, behaviour := range []string{slow, limited, refuse} {
		s := newSink(must(newBehaviour(behaviour, time.Nanosecond, testRate)))
		post(s, t.Context(), append(whole[0], whole[1]...))
		if len(s.traces.byID) != 0 {
			t.Errorf("%s: kept", behaviour)
		}
	}
	s := newSink(behaviour{name: accept})
	post(s, t.Context(), append(whole[0], 0))
	if len(s.traces.byID) != 0 {
		t.Error("malformed: kept")
	}
}

func must(b behaviour, err error) behaviour {
	if err != nil {
		panic(err)
	}
	return b
}

// shelf has traces kept at a time that the test moves on.
type shelf struct {
	*testing.T
	*traces
	time time.Time
}

func newShelf(t *testing.T) *shelf {
	s := &shelf{T: t, traces: newTraces()}
	s.now = func() time.Time { return s.time }
	return s
}

// put keeps spans as a request brings them.
func (s *shelf) put(resources ...[]byte) {
	s.Helper()
	for _, request := range resources {
		_, found, err := readOTLP(request, s.wanted(), nil)
		if err != nil {
			s.Fatal(err)
		}
		s.keep(found)
	}
}

func (s *shelf) expect(id string, spans int) {
	s.Helper()
	if got, shown := s.largest(); hex.EncodeToString(got[:]) != id || len(shown) != spans {
		s.Errorf("trace %x with %d spans, want %s with %d", got, len(shown), id, spans)
	}
}

var none = strings.Repeat("0", 32)

func TestATraceIsCompleteWithItsRootAndEveryParentOnceItGrowsNoMore(t *testing.T) {
	s, parts := newShelf(t), traceOf(aTrace, 1000)
	s.put(parts[0])
	s.time = s.time.Add(time.Hour)
	s.expect(none, 0) // neither root nor parent
	s.put(ofService("gateway", otlpSpan(aTrace, "0000000000000001", "", 2, 1)))
	s.time = s.time.Add(time.Hour)
	s.expect(none, 0) // the client span between them
	s.put(ofService("gateway", otlpSpan(aTrace, "0000000000000002", "0000000000000001", 3, 2)))
	s.time = s.time.Add(quietTime - 1)
	s.expect(none, 0)
	s.time = s.time.Add(1)
	s.expect(aTrace, 3)
}

func TestTheLargestTraceIsShownOfSeveralTheOneThatStartedLast(t *testing.T) {
	s := newShelf(t)
	small, other, large, early := aTrace[:31]+"2", aTrace[:31]+"3", aTrace[:31]+"4", aTrace[:31]+"5"
	s.put(ofService("gateway", otlpSpan(small, "0000000000000001", "", 2, 9), otlpSpan(other, "0000000000000001", "", 2, 10)))
	s.time = s.time.Add(quietTime)
	s.expect(other, 1)
	for _, trace := range [][2][]byte{traceOf(large, 8), traceOf(early, 7)} {
		s.put(trace[0], trace[1])
	}
	s.time = s.time.Add(quietTime)
	s.expect(large, 3)
}

func TestASpanThatCameAgainIsShownOnce(t *testing.T) {
	s, again := newShelf(t), aTrace[:31]+"2"
	whole, repeated := traceOf(aTrace, 1), traceOf(again, 2)
	// The server's span has the client's ID, as in Zipkin's protocol.
	s.put(whole[0], whole[1], ofService("a1", otlpSpan(aTrace, "0000000000000002", "0000000000000001", 2, 1)))
	s.put(repeated[0], repeated[1], repeated[1])
	s.time = s.time.Add(quietTime)
	s.expect(aTrace, 4)
	if spans := decoded(s.of(traceID(unhex(again)))); len(spans) != 3 {
		t.Errorf("%d spans", len(spans))
	}
}

func TestASpanThatCannotBeDecodedSpoilsItsTraceOnly(t *testing.T) {
	s, whole := newShelf(t), traceOf(aTrace, 1)
	other := aTrace[:31] + "2"
	s.put(whole[0], whole[1], ofService("a1", otlpSpan(aTrace, "0000000000000004", "0000000000000001", 99, 1)))
	s.put(ofService("gateway", otlpSpan(other, "0000000000000001", "", 2, 1)))
	s.time = s.time.Add(quietTime)
	s.expect(other, 1)
}

func TestManyTracesLeaveASampleOfCompleteOnes(t *testing.T) {
	const sent = 10_000
	s := newShelf(t)
	idOf := func(i int) string { return fmt.Sprintf("0000000000000001%016x", 1000+i) } // IDs that are not random
	for batch := 0; batch < sent; batch += 100 {
		for part := range 2 { // the second part comes when many traces have begun since the first
			for i := batch; i < batch+100; i++ {
				s.put(traceOf(idOf(i), 1000*i)[part])
			}
		}
	}
	if kept := len(s.byID); kept < traceLimit/4 || kept > traceLimit {
		t.Errorf("%d traces are kept", kept)
	}
	for id, kept := range s.byID {
		if len(kept.spans) != 3 {
			t.Errorf("%x has %d spans", id, len(kept.spans))
		}
	}
	if share := float64(len(s.byID)) / sent; share > 2/float64(int(1)<<s.sample) || share < 0.5/float64(int(1)<<s.sample) {
		t.Errorf("at step %d are %v of the traces", s.sample, share)
	}
	s.time = s.time.Add(quietTime)
	if id, spans := s.largest(); len(spans) != 3 || spans[1].StartNs < 8*sent/10*1000 {
		t.Errorf("%x with %d spans is not one of the newest", id, len(spans))
	}
}

func TestTheBytesOfTracesAreLimited(t *testing.T) {
	s := newShelf(t)
	long := strings.Repeat("x", 1<<20)
	for i := range 40 {
		id := fmt.Sprintf("%032x", i+1)
		s.put(ofService("a1", field(spanField, field(traceIDField, unhex(id)), field(nameField, []byte(long)))))
		if s.bytes > traceByteLimit {
			t.Fatalf("%d bytes are kept", s.bytes)
		}
	}
	if len(s.byID) == 0 {
		t.Error("nothing is kept")
	}
	for range 10 { // one trace that is larger than the limit
		s.put(ofService("a1", field(spanField, field(traceIDField, unhex(aTrace)), field(nameField, []byte(long)))))
	}
	total := 0
	for _, kept := range s.byID {
		total += kept.bytes
	}
	if s.bytes != total || total > traceByteLimit {
		t.Errorf("%d bytes are kept, counted as %d", total, s.bytes)
	}
}

func TestSpansWithoutAnIDAreCountedAndNotKept(t *testing.T) {
	for _, text := range []string{`[{}]`, `[{"traceId":""}]`, `[{"traceId":"x"}]`, `[{"traceId":"0"}]`, `[{"traceId":1}]`,
		`[{"traceId":"` + strings.Repeat("1", 33) + `"}]`, `[{"tags":{"traceId":"1"}}]`, `[{"name":"traceId","1":"2"}]`} {
		if spans, found, err := readZipkin([]byte(text), 0, nil); spans != 1 || len(found) != 0 || err != nil {
			t.Errorf("%s: %d spans, %d found, error %v", text, spans, len(found), err)
		}
	}
	for name, id := range map[string][]byte{"none": nil, "short": {1}, "zero": make([]byte, 16)} {
		if spans, found, err := readOTLP(ofService("a1", field(spanField, field(traceIDField, id))), 0, nil); spans != 1 || len(found) != 0 || err != nil {
			t.Errorf("%s: %d spans, %d found, error %v", name, spans, len(found), err)
		}
	}
}

func TestSpansOfARealAgentAreDecoded(t *testing.T) {
	request, err := os.ReadFile("testdata/otel-agent.pb")
	if err != nil {
		t.Fatal(err)
	}
	_, found, err := readOTLP(request, 0, nil)
	if err != nil || len(found) != 28 {
		t.Fatalf("%d spans, error %v", len(found), err)
	}
	for _, raw := range found {
		s, err := raw.decode(raw.service, raw.content)
		if err != nil || len(s.ID) != 16 || s.Service == "" || s.Name == "" || s.Tags == 0 || s.DurationNs <= 0 || s.DurationNs > 60e9 {
			t.Errorf("%+v, error %v", s, err)
		}
	}
}
