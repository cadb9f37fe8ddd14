package main

import (
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// part is how many spans of one trace follow each other in a request.
type part struct {
	id    traceID
	spans int
}

// weight is what a part adds to a sum. Two sums are the same only if each trace has as many spans in both: IDs are random,
// so that no trace that came twice makes up for one that was lost.
func (p part) weight() uint64 { return uint64(p.spans) * binary.BigEndian.Uint64(p.id[8:]) }

var errTraceID = errors.New("a span has no trace ID of 16 bytes")

// tally appends the parts of an ExportTraceServiceRequest. It looks at the spans' trace IDs only, which costs a small part
// of decoding everything.
func tally(request []byte, parts []part) ([]part, error) {
	err := eachMessage(request, tagResourceSpans>>3, func(resource []byte) error {
		return eachMessage(resource, tagScopeSpans>>3, func(scope []byte) error {
			return eachMessage(scope, tagSpan>>3, func(span []byte) error {
				id, err := idOf(span)
				if err != nil {
					return err
				}
				if last := len(parts) - 1; last >= 0 && parts[last].id == id {
					parts[last].spans++
				} else {
					parts = append(parts, part{id, 1})
				}
				return nil
			})
		})
	})
	return parts, err
}

// idOf returns a span's trace ID.
func idOf(span []byte) (id traceID, err error) {
	found := false
	err = eachMessage(span, tagTraceID>>3, func(content []byte) error {
		if found = len(content) == len(id); found {
			id = traceID(content)
		}
		return nil
	})
	if err == nil && !found {
		err = errTraceID
	}
	return id, err
}

// eachMessage visits a message's fields of one number, which have to be length-delimited.
func eachMessage(message []byte, wanted protowire.Number, visit func([]byte) error) error {
	for len(message) > 0 {
		number, kind, length := protowire.ConsumeTag(message)
		if length < 0 {
			return protowire.ParseError(length)
		}
		message = message[length:]
		if number != wanted {
			if length = protowire.ConsumeFieldValue(number, kind, message); length < 0 {
				return protowire.ParseError(length)
			}
			message = message[length:]
			continue
		}
		if kind != protowire.BytesType {
			return fmt.Errorf("field %d has wire type %d", number, kind)
		}
		content, length := protowire.ConsumeBytes(message)
		if length < 0 {
			return protowire.ParseError(length)
		}
		message = message[length:]
		if err := visit(content); err != nil {
			return err
		}
	}
	return nil
}
