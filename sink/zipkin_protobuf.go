package main

import (
	"mime"
	"net/http"
)

// zipkinProtobuf is Zipkin's protocol in protobuf: https://github.com/openzipkin/zipkin-api, zipkin.proto
var zipkinProtobuf = protocol{
	unwrap: unwrapHTTP(protobufType),
	read:   countZipkinProtobuf,
	answer: zipkin.answer,
}

// Number of a field in zipkin.proto, message ListOfSpans.
const zipkinSpanField = 1

// countZipkinProtobuf counts the spans of a ListOfSpans. It keeps no traces.
func countZipkinProtobuf(list []byte, _ sample, found []rawSpan) (spans int, _ []rawSpan, err error) {
	err = eachField(list, zipkinSpanField, func(fields []byte) error {
		spans++
		return eachField(fields, traceIDField, func([]byte) error { return nil })
	})
	return spans, found, err
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
