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

// desk is where one body at a time is read, unpacked and counted; its memory is used again for the next.
type desk struct {
	body, unpacked bytes.Buffer
	gzip           gzip.Reader
}

// count waits for a desk and returns the number of spans in a request.
func (s *sink) count(p protocol, w http.ResponseWriter, r *http.Request) (int, *refusal) {
	var d *desk
	select {
	case d = <-s.desks:
		defer func() { s.desks <- d }()
	case <-r.Context().Done():
		return 0, givenUp
	}
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(readLimit)) // all servers here know deadlines
	body, refused := d.read(r.Body)
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
	spans, err := p.count(message)
	if err != nil {
		return 0, malformed(err)
	}
	return spans, nil
}

// read returns a body, valid until the desk is given to another.
func (d *desk) read(body io.Reader) ([]byte, *refusal) {
	return readInto(&d.body, body)
}

// unpack returns what a message was before it was compressed, valid as what read returns.
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
