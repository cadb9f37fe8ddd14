package main

import (
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
