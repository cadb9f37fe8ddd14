package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"sync"
)

// The smallest memory of a body.
const leastBodyBytes = 4096

// body is one request's message. Its memory is used again: nothing may refer to it after it was released.
type body struct {
	writer
	client, spans int
	zipped        bytes.Buffer
}

var (
	bodies = sync.Pool{New: func() any { return &body{writer: writer{buffer: make([]byte, leastBodyBytes)}} }}
	zips   = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
)

func newBody() *body { return bodies.Get().(*body) }

// release gives the body back. After a failed send, grpc-go and net/http may still read it: it is then left to the garbage
// collector.
func (b *body) release() { bodies.Put(b) }

// gzip returns the message compressed, valid as long as the body. So many bytes before it are left free.
func (b *body) gzip(free int) []byte {
	zip := zips.Get().(*gzip.Writer)
	defer zips.Put(zip)
	b.zipped.Reset()
	_, _ = b.zipped.Write(make([]byte, free)) // a buffer in memory takes everything
	zip.Reset(&b.zipped)
	_, _ = zip.Write(b.bytes())
	_ = zip.Close()
	return b.zipped.Bytes()
}

// framed returns the message with gRPC's prefix: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
func (b *body) framed(zip bool) []byte {
	if zip {
		framed := b.gzip(grpcPrefixBytes)
		framed[0] = 1
		binary.BigEndian.PutUint32(framed[1:], uint32(len(framed)-grpcPrefixBytes))
		return framed
	}
	length := b.written()
	b.room(grpcPrefixBytes)
	b.at -= grpcPrefixBytes
	b.buffer[b.at] = 0
	binary.BigEndian.PutUint32(b.buffer[b.at+1:], uint32(length))
	return b.bytes()
}
