package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// twoZipkinSpans is a ListOfSpans of two spans, each with a trace ID of 16 bytes and a name.
func twoZipkinSpans() []byte {
	one := append(field(1, make([]byte, 16)), field(5, []byte("GET"))...)
	return append(field(1, one), field(1, one)...)
}

func viaZipkinProtobuf(body []byte) request {
	r := viaZipkin(body, "")
	r.header["Content-Type"] = protobufType
	return r
}

func TestZipkinProtobufIsCounted(t *testing.T) {
	s := start(t, accept, time.Second)
	if got := s.send(viaZipkinProtobuf(twoZipkinSpans())); got.status != http.StatusAccepted {
		t.Errorf("answer is %+v", got)
	}
	s.expectSpans(2, 0)
	// One port takes both encodings.
	s.send(viaZipkin([]byte(threeZipkinSpans), ""))
	s.expectSpans(5, 0)
}

// zipkinSpan lasts 2 µs and has two tags.
func zipkinSpan(id, parent, service string, kind, startUs int) []byte {
	return field(zipkinSpanField,
		field(traceIDField, unhex(aTrace)), field(zipkinIDField, unhex(id)), field(zipkinParentField, unhex(parent)),
		number(zipkinKindField, kind), field(zipkinNameField, []byte("GET")), fixed(zipkinStartField, uint64(startUs)),
		number(zipkinDurationField, 2), field(zipkinEndpointField, field(zipkinServiceField, []byte(service))),
		field(zipkinTagField, field(1, []byte("a"))), field(zipkinTagField, field(1, []byte("b"))),
	)
}

func TestATraceOfZipkinProtobufIsShown(t *testing.T) {
	const client, server = 1, 2
	s := start(t, accept, time.Second)
	s.send(viaZipkinProtobuf(zipkinSpan("0000000000000003", "0000000000000002", "a1", server, 2)))
	s.send(viaZipkinProtobuf(append(
		zipkinSpan("0000000000000001", "", "gateway", server, 1),
		zipkinSpan("0000000000000002", "0000000000000001", "gateway", client, 1)...,
	)))
	s.expectTrace(fmt.Sprintf(aRecord, 1000))
}

func TestASpanOfAnUnknownKindIsNotDecoded(t *testing.T) {
	if _, err := decodeZipkinProtobuf("", number(zipkinKindField, len(zipkinKinds))); err == nil {
		t.Error("it is decoded")
	}
}

func TestWhatIsNotAListOfZipkinSpansIsAnError(t *testing.T) {
	whole := twoZipkinSpans()
	s := start(t, accept, time.Second)
	for _, body := range [][]byte{[]byte("not protobuf"), whole[:len(whole)-1], field(1, field(1)[:1])} {
		if got := s.send(viaZipkinProtobuf(body)); got.status != http.StatusBadRequest {
			t.Errorf("%q: answer is %+v", body, got)
		}
	}
	s.expectSpans(0, 0)
}
