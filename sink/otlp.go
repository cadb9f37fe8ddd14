package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"mime"
	"net/http"
)

const protobufType = "application/x-protobuf"

// otlpHTTP is OTLP over HTTP with binary protobuf: https://opentelemetry.io/docs/specs/otlp/#otlphttp
var otlpHTTP = protocol{
	unwrap:  unwrapHTTP(protobufType),
	read:    readOTLP,
	spanIDs: spanIDs,
	answer: func(w http.ResponseWriter, r *rejection) {
		w.Header().Set("Content-Type", protobufType)
		if r != nil {
			w.WriteHeader(r.httpStatus)
			_, _ = w.Write(statusMessage(r.reason))
		} // an empty body is an ExportTraceServiceResponse whose fields are all left out
	},
}

// unwrapHTTP takes bodies of one media type that are compressed with gzip or not at all.
func unwrapHTTP(want string) func(http.Header, []byte) ([]byte, bool, *rejection) {
	return func(header http.Header, body []byte) ([]byte, bool, *rejection) {
		mediaType, _, err := mime.ParseMediaType(header.Get("Content-Type"))
		if err != nil || mediaType != want {
			return nil, false, wrongType
		}
		compressed, rejected := isGzip(header.Get("Content-Encoding"))
		return body, compressed, rejected
	}
}

func isGzip(encoding string) (bool, *rejection) {
	switch encoding {
	case "gzip":
		return true, nil
	case "", "identity":
		return false, nil
	}
	return false, wrongType
}

// statusMessage is a google.rpc.Status with a message: what OTLP wants in the body of each rejection.
func statusMessage(text string) []byte {
	const messageField = 2<<3 | lengthDelimited
	return append(binary.AppendUvarint([]byte{messageField}, uint64(len(text))), text...)
}

// Numbers of fields in opentelemetry/proto/trace/v1/trace.proto.
const (
	resourceSpansField, scopeSpansField, spanField = 1, 2, 2
	traceIDField                                   = 1
)

// readOTLP reads an ExportTraceServiceRequest. It walks the request down to the spans and over each span's fields; what is
// inside those is skipped, which costs a small part of unmarshalling them.
func readOTLP(request []byte, wanted sample, found []rawSpan) (spans int, _ []rawSpan, err error) {
	err = eachField(request, resourceSpansField, func(resource []byte) error {
		service, known := "", false
		return eachField(resource, scopeSpansField, func(scope []byte) error {
			return eachField(scope, spanField, func(fields []byte) error {
				spans++
				id, err := traceIDOf(fields)
				if err != nil || id == (traceID{}) || !wanted.has(id) {
					return err
				}
				if !known {
					service, known = serviceName(resource), true
				}
				found = append(found, rawSpan{id, service, fields, decodeOTLP})
				return nil
			})
		})
	})
	return spans, found, err
}

// traceIDOf walks over all of a span's fields, of OTLP or of Zipkin; it returns zeroes if the span has no ID of 16 bytes.
func traceIDOf(span []byte) (id traceID, err error) {
	err = eachField(span, traceIDField, func(content []byte) error {
		if len(content) == len(id) {
			id = traceID(content)
		}
		return nil
	})
	return id, err
}

// Wire types of protobuf: https://protobuf.dev/programming-guides/encoding/#structure
const (
	varint          = 0
	fixed64         = 1
	lengthDelimited = 2
	fixed32         = 5
)

var errCutOff = errors.New("not an OTLP request: a field is cut off")

// eachField walks over a message's fields and visits those of one number, which have to be messages themselves.
func eachField(message []byte, number uint64, visit func([]byte) error) error {
	for len(message) > 0 {
		key, size := binary.Uvarint(message)
		if size <= 0 {
			return errCutOff
		}
		if key>>3 == 0 {
			return errors.New("not an OTLP request: a field has number 0")
		}
		var content []byte
		var err error
		if content, message, err = cutField(message[size:], key&7); err != nil {
			return err
		}
		if key>>3 != number {
			continue
		}
		if key&7 != lengthDelimited {
			return fmt.Errorf("not an OTLP request: field %d has wire type %d", number, key&7)
		}
		if err := visit(content); err != nil {
			return err
		}
	}
	return nil
}

// eachKey walks over all fields of a message that was walked over before, and visits each with its key.
func eachKey(message []byte, visit func(key uint64, value []byte) error) error {
	for len(message) > 0 {
		key, size := binary.Uvarint(message)
		value, rest, err := cutField(message[size:], key&7)
		if err != nil {
			return err
		}
		message = rest
		if err := visit(key, value); err != nil {
			return err
		}
	}
	return nil
}

// cutField cuts a field's content off what follows its key.
func cutField(message []byte, wireType uint64) (content, rest []byte, err error) {
	begin, length := 0, uint64(0)
	switch wireType {
	case varint:
		_, size := binary.Uvarint(message)
		if size <= 0 {
			return nil, nil, errCutOff
		}
		length = uint64(size)
	case fixed64:
		length = 8
	case fixed32:
		length = 4
	case lengthDelimited:
		if length, begin = binary.Uvarint(message); begin <= 0 {
			return nil, nil, errCutOff
		}
	default:
		return nil, nil, fmt.Errorf("not an OTLP request: wire type %d", wireType)
	}
	if length > uint64(len(message)-begin) {
		return nil, nil, errCutOff
	}
	end := begin + int(length)
	return message[begin:end], message[end:], nil
}
