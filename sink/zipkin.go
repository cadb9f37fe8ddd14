package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// zipkin is Zipkin's own protocol, version 2, in JSON: https://zipkin.io/zipkin-api/#/default/post_spans
var zipkin = protocol{
	unwrap: unwrapHTTP("application/json"),
	read:   readZipkin,
	answer: func(w http.ResponseWriter, r *rejection) {
		if r != nil {
			http.Error(w, r.reason, r.httpStatus)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	},
}

var errNoZipkin = errors.New("not a list of Zipkin spans")

// outside is what JSON has around the spans: outside the list, and in it.
var outside = [2]string{" \t\r\n[", " \t\r\n{,]"}

// readZipkin reads a JSON list of objects. One pass checks that it is JSON, a second one looks for the trace IDs.
func readZipkin(body []byte, wanted sample, found []rawSpan) (spans int, _ []rawSpan, err error) {
	if !json.Valid(body) {
		return 0, found, errNoZipkin
	}
	var id traceID
	var key []byte
	depth, begin, inValue := 0, 0, false // inValue: behind the colon of one of a span's keys
	for i := 0; i < len(body); i++ {
		c := body[i]
		if depth < len(outside) && strings.IndexByte(outside[depth], c) < 0 {
			return 0, found, errNoZipkin
		}
		switch c {
		case '[', '{':
			if depth++; depth == 2 {
				begin, id, inValue = i, traceID{}, false
			}
		case ']', '}':
			if depth--; depth != 1 {
				continue
			}
			spans++
			if id != (traceID{}) && wanted.has(id) {
				found = append(found, rawSpan{trace: id, content: body[begin : i+1], decode: decodeZipkin})
			}
		case ':', ',':
			if depth == 2 {
				inValue = c == ':'
			}
		case '"':
			text := jsonString(body[i+1:])
			i += 1 + len(text)
			if depth != 2 {
				continue
			}
			if !inValue {
				key = text
			} else if string(key) == "traceId" {
				id = zipkinTraceID(text)
			}
		}
	}
	return spans, found, nil
}

// jsonString returns the characters up to the quote that ends a string.
func jsonString(text []byte) []byte {
	end := 0
	for ; text[end] != '"'; end++ {
		if text[end] == '\\' {
			end++
		}
	}
	return text[:end]
}

// zipkinTraceID reads up to 32 hexadecimal digits; it returns zeroes for anything else.
func zipkinTraceID(text []byte) (id traceID) {
	var digits [2 * len(id)]byte
	if len(text) > len(digits) {
		return traceID{}
	}
	padding := len(digits) - len(text)
	copy(digits[padding:], text)
	for i := range padding {
		digits[i] = '0'
	}
	if _, err := hex.Decode(id[:], digits[:]); err != nil {
		return traceID{}
	}
	return id
}

// decodeZipkin decodes a span that readZipkin has found; the name of its service is in it.
func decodeZipkin(_ string, content []byte) (span, error) {
	var sent struct {
		ID            string
		ParentID      *string
		Name, Kind    string
		LocalEndpoint struct{ ServiceName string }
		Timestamp     int64 // µs, as Duration
		Duration      int64
		Tags          map[string]string
	}
	if err := json.Unmarshal(content, &sent); err != nil {
		return span{}, err
	}
	kind := "internal"
	if sent.Kind != "" {
		kind = strings.ToLower(sent.Kind)
	}
	return span{
		sent.ID, sent.ParentID, sent.LocalEndpoint.ServiceName, sent.Name, kind,
		1000 * sent.Timestamp, 1000 * sent.Duration, len(sent.Tags),
	}, nil
}
