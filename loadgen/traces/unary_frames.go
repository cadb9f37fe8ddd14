package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"strconv"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
)

const (
	frameHeaderBytes = 9
	grpcPrefixBytes  = 5 // of a message: whether it is compressed, and its length
)

// What is written while a request is sent.
var outputs = sync.Pool{New: func() any { return new([]byte) }}

// connectionPreface begins a connection: no pushed streams, and headers that do not refer to earlier ones.
var connectionPreface = func() []byte {
	var settings bytes.Buffer
	_ = http2.NewFramer(&settings, nil).WriteSettings( // a buffer in memory takes everything
		http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0}, http2.Setting{ID: http2.SettingEnablePush, Val: 0})
	return append([]byte(http2.ClientPreface), settings.Bytes()...)
}()

// requestHeader is the header of every request to a target. It refers to no earlier one.
func requestHeader(target string, zip bool) []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	encoder.SetMaxDynamicTableSize(0)
	fields := [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":path", exportMethod}, {":authority", target},
		{"content-type", "application/grpc+proto"}, {"te", "trailers"}, {"user-agent", "tollbooth"},
	}
	if zip {
		fields = append(fields, [2]string{"grpc-encoding", "gzip"})
	}
	for _, field := range fields {
		_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}) // as above
	}
	return block.Bytes()
}

// appendFrame appends an HTTP/2 frame: RFC 9113, 4.1.
func appendFrame(out []byte, kind http2.FrameType, flags http2.Flags, stream uint32, payload []byte) []byte {
	length := len(payload)
	out = append(out, byte(length>>16), byte(length>>8), byte(length), byte(kind), byte(flags))
	out = binary.BigEndian.AppendUint32(out, stream)
	return append(out, payload...)
}

// grpcAnswer is what comes back on a request's stream.
type grpcAnswer struct {
	decoder *hpack.Decoder
	own     bool // the header that is being read is this answer's
	last    bool // and ends it
	ended   bool
	status  string // gRPC's; empty: none came
	message []byte
}

func (a *grpcAnswer) reset() {
	a.ended, a.last, a.status, a.message = false, false, "", a.message[:0]
}

func (a *grpcAnswer) data(part []byte, last bool) {
	a.message = append(a.message, part...)
	a.ended = a.ended || last
}

// headers reads a part of a header. Those of requests that are no longer waited for are read too.
func (a *grpcAnswer) headers(block []byte, complete, own, last bool) error {
	if a.decoder == nil {
		a.decoder = hpack.NewDecoder(0, func(field hpack.HeaderField) {
			if a.own && field.Name == "grpc-status" {
				a.status = field.Value
			}
		})
	}
	a.own, a.last = own, own && (last || a.last)
	if _, err := a.decoder.Write(block); err != nil {
		return err
	}
	if !complete {
		return nil
	}
	a.ended, a.last = a.ended || a.last, false
	return a.decoder.Close()
}

// verdict is how a request ended that was answered.
func (a *grpcAnswer) verdict() verdict {
	code, err := strconv.ParseUint(a.status, 10, 31) // digits only: no sign
	switch {
	case err != nil: // no gRPC
		return verdict{sendError, int(codes.Unknown)}
	case code != uint64(codes.OK):
		return verdict{sendError, int(code)}
	}
	rejected := int64(0)
	message, err := a.unpacked()
	if err == nil {
		rejected, err = readAnswer(message)
	}
	if err != nil || rejected > 0 {
		return verdict{sendError, codeRejected}
	}
	return sentWell
}

// unpacked returns the answer's message. A target may compress it as the request was.
func (a *grpcAnswer) unpacked() ([]byte, error) {
	if len(a.message) < grpcPrefixBytes {
		return nil, nil
	}
	message := a.message[grpcPrefixBytes:]
	if a.message[0] == 0 {
		return message, nil
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(message))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(unzipped, answerLimit))
}
