package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"time"
)

const bodyLimit = 4 << 20 // bytes, of a body as it comes and of what it is unpacked to

// desk is where one body at a time is received, unpacked and read; its memory is used again for the next.
type desk struct {
	body, unpacked bytes.Buffer
	gzip           gzip.Reader
	found          []rawSpan
}

// read waits for a desk and returns the number of spans in a request. It keeps those of sampled traces if keep is set.
func (s *sink) read(p protocol, keep bool, w http.ResponseWriter, r *http.Request) (int, *refusal) {
	var d *desk
	select {
	case d = <-s.desks:
		defer func() { s.desks <- d }()
	case <-r.Context().Done():
		return 0, givenUp
	}
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(readLimit)) // all servers here know deadlines
	body, refused := d.receive(r.Body)
	_ = connection.SetReadDeadline(time.Time{})
	s.counters.bytes.Add(uint64(d.body.Len()))
	if refused != nil {
		return 0, refused
	}
	message, compressed, refused := p.unwrap(r.Header, body)
	if refused == nil && compressed {
		message, refused = d.unpack(message)
	}
	if refused != nil {
		return 0, refused
	}
	spans, found, err := p.read(message, s.traces.wanted(), d.found[:0])
	d.found = found
	if err != nil {
		return 0, malformed(err)
	}
	if keep {
		s.traces.keep(found)
	}
	return spans, nil
}

// receive returns a body, valid until the desk is given to another.
func (d *desk) receive(body io.Reader) ([]byte, *refusal) {
	return readInto(&d.body, body)
}

// unpack returns what a message was before it was compressed, valid as what receive returns.
func (d *desk) unpack(message []byte) ([]byte, *refusal) {
	if err := d.gzip.Reset(bytes.NewReader(message)); err != nil {
		return nil, malformed(fmt.Errorf("unpacking: %w", err))
	}
	return readInto(&d.unpacked, &d.gzip)
}

func readInto(buffer *bytes.Buffer, source io.Reader) ([]byte, *refusal) {
	buffer.Reset()
	n, err := buffer.ReadFrom(io.LimitReader(source, bodyLimit+1))
	if err != nil {
		return nil, malformed(fmt.Errorf("reading: %w", err))
	}
	if n > bodyLimit {
		return nil, tooLarge
	}
	return buffer.Bytes(), nil
}
