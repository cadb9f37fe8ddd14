package main

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"mime"
	"net/http"
)

// zipkinProtobuf is Zipkin's protocol in protobuf: https://github.com/openzipkin/zipkin-api, zipkin.proto
var zipkinProtobuf = protocol{
	unwrap: unwrapHTTP(protobufType),
	read:   readZipkinProtobuf,
	answer: zipkin.answer,
}

// Numbers of fields in zipkin.proto, messages ListOfSpans, Span and Endpoint. A span's trace ID is field 1, as in OTLP.
const (
	zipkinSpanField = 1

	zipkinParentField, zipkinIDField, zipkinKindField, zipkinNameField = 2, 3, 4, 5
	zipkinStartField, zipkinDurationField                              = 6, 7
	zipkinEndpointField, zipkinTagField                                = 8, 11

	zipkinServiceField = 1
)

var zipkinKinds = []string{"internal", "client", "server", "producer", "consumer"}

// readZipkinProtobuf reads a ListOfSpans.
func readZipkinProtobuf(list []byte, wanted sample, found []rawSpan) (spans int, _ []rawSpan, err error) {
	err = eachField(list, zipkinSpanField, func(fields []byte) error {
		spans++
		id, err := traceIDOf(fields)
		if err == nil && id != (traceID{}) && wanted.has(id) {
			found = append(found, rawSpan{trace: id, content: fields, decode: decodeZipkinProtobuf})
		}
		return err
	})
	return spans, found, err
}

// decodeZipkinProtobuf decodes a span that traceIDOf has walked over; the name of its service is in it.
func decodeZipkinProtobuf(_ string, content []byte) (span, error) {
	s := span{Kind: zipkinKinds[0]}
	err := eachKey(content, func(key uint64, value []byte) error {
		switch key {
		case zipkinIDField<<3 | lengthDelimited:
			s.ID = hex.EncodeToString(value)
		case zipkinParentField<<3 | lengthDelimited:
			if len(value) > 0 {
				parent := hex.EncodeToString(value)
				s.Parent = &parent
			}
		case zipkinKindField<<3 | varint:
			kind, _ := binary.Uvarint(value)
			if kind >= uint64(len(zipkinKinds)) {
				return errors.New("a span's kind is not one of Zipkin's")
			}
			s.Kind = zipkinKinds[kind]
		case zipkinNameField<<3 | lengthDelimited:
			s.Name = string(value)
		case zipkinStartField<<3 | fixed64:
			s.StartNs = 1000 * int64(binary.LittleEndian.Uint64(value))
		case zipkinDurationField<<3 | varint:
			us, _ := binary.Uvarint(value)
			s.DurationNs = 1000 * int64(us)
		case zipkinEndpointField<<3 | lengthDelimited:
			return eachField(value, zipkinServiceField, func(name []byte) error {
				s.Service = string(name)
				return nil
			})
		case zipkinTagField<<3 | lengthDelimited:
			s.Tags++
		}
		return nil
	})
	return s, err
}

// zipkinHandler receives Zipkin's spans in either encoding.
func (s *sink) zipkinHandler() http.HandlerFunc {
	json, protobuf := s.handler(zipkin), s.handler(zipkinProtobuf)
	return func(w http.ResponseWriter, r *http.Request) {
		if mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && mediaType == protobufType {
			protobuf(w, r)
			return
		}
		json(w, r)
	}
}
