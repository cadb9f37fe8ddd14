package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

const bodyLimit = 4 << 20 // bytes, of a body as it comes and of what it is unpacked to

// bodyReader receives and unpacks one body at a time; its memory is used again for the next.
type bodyReader struct {
	body, unpacked bytes.Buffer
	gzip           gzip.Reader
	found          []rawSpan
	spanIDs        []uint64
}

// read waits for a reader and returns the number of spans in a request. If keep is set, the spans are accepted once they
// are read: it keeps sampled traces, and counts duplicates if the sink is to.
func (s *sink) read(p protocol, keep bool, w http.ResponseWriter, r *http.Request) (int, *rejection) {
	var b *bodyReader
	select {
	case b = <-s.readers:
		defer func() { s.readers <- b }()
	case <-r.Context().Done():
		return 0, givenUp
	}
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(s.readLimit)) // all servers here know deadlines
	body, rejected := b.receive(r.Body)
	if rejected != tooSlow { // the server reads on before it answers: it would wait for the rest
		_ = connection.SetReadDeadline(time.Time{})
	}
	s.counters.bytes.Add(uint64(b.body.Len()))
	if rejected != nil {
		return 0, rejected
	}
	message, compressed, rejected := p.unwrap(r.Header, body)
	if rejected == nil && compressed {
		message, rejected = b.unpack(message)
	}
	if rejected != nil {
		return 0, rejected
	}
	spans, found, err := p.read(message, s.traces.wanted(), b.found[:0])
	b.found = found
	if err != nil {
		return 0, malformed(err)
	}
	if keep {
		s.traces.keep(found)
		if s.seen != nil && p.spanIDs != nil {
			b.spanIDs = p.spanIDs(message, b.spanIDs[:0])
			s.counters.duplicateSpans.Add(s.seen.add(b.spanIDs))
		}
	}
	return spans, nil
}

// receive returns a body, valid until the reader's next one.
func (b *bodyReader) receive(body io.Reader) ([]byte, *rejection) {
	return readInto(&b.body, body)
}

// unpack returns what a message was before it was compressed, valid as what receive returns.
func (b *bodyReader) unpack(message []byte) ([]byte, *rejection) {
	if err := b.gzip.Reset(bytes.NewReader(message)); err != nil {
		return nil, malformed(fmt.Errorf("unpacking: %w", err))
	}
	return readInto(&b.unpacked, &b.gzip)
}

func readInto(buffer *bytes.Buffer, source io.Reader) ([]byte, *rejection) {
	buffer.Reset()
	n, err := buffer.ReadFrom(io.LimitReader(source, bodyLimit+1))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, tooSlow
	}
	if err != nil {
		return nil, malformed(fmt.Errorf("reading: %w", err))
	}
	if n > bodyLimit {
		return nil, tooLarge
	}
	return buffer.Bytes(), nil
}
