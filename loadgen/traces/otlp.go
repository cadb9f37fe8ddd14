package main

import "fmt"

// Tags (field number and wire type) of opentelemetry/proto/collector/trace/v1/trace_service.proto and what it contains.
const (
	tagResourceSpans = 1<<3 | 2 // of a request
	tagResource      = 1<<3 | 2 // of resource spans
	tagScopeSpans    = 2<<3 | 2
	tagScope         = 1<<3 | 2 // of scope spans
	tagSpan          = 2<<3 | 2
	tagAttributes    = 1<<3 | 2 // of a resource
	tagScopeName     = 1<<3 | 2
	tagKey           = 1<<3 | 2 // of an attribute
	tagValue         = 2<<3 | 2
	tagString        = 1<<3 | 2 // of a value

	// of a span
	tagTraceID        = 1<<3 | 2
	tagSpanID         = 2<<3 | 2
	tagParentID       = 4<<3 | 2
	tagName           = 5<<3 | 2
	tagKind           = 6 << 3
	tagStart          = 7<<3 | 1
	tagEnd            = 8<<3 | 1
	tagSpanAttributes = 9<<3 | 2
	tagStatus         = 15<<3 | 2
	tagStatusCode     = 3 << 3
)

const (
	kindInternal, kindServer = 1, 2
	statusError              = 2

	scopeName   = "tollbooth"
	riskyKey    = "risky"
	riskyBytes  = 16
	serviceName = "service.name"

	// Room for the parts of fixed size, with some to spare.
	resourceBytes  = 128
	spanFixedBytes = 192
	attributeRoom  = 40
)

var (
	spanNames     = numbered("work-%d", 16)
	attributeKeys = numbered("extra.%d", maxAttributes)
	services      = numbered("client-%d", maxClients)
)

func numbered(form string, count int) []string {
	names := make([]string, count)
	for i := range names {
		names[i] = fmt.Sprintf(form, i)
	}
	return names
}

// spanBytes is at least the size of a span with so many attributes of so many bytes.
func spanBytes(attributes, bytes int) int { return spanFixedBytes + attributes*(attributeRoom+bytes) }

// request makes the message an ExportTraceServiceRequest with one client's spans of the traces, byte for byte as pdata
// writes it. The last span is written first. It returns how many spans the message has.
func (w *writer) request(traces []trace, client int) (spans int) {
	w.reset()
	w.room(resourceBytes)
	w.attribute(tagAttributes, serviceName, services[client])
	w.enclose(tagResource, 0)
	before := w.written()
	w.text(tagScopeName, scopeName)
	w.enclose(tagScope, before)
	for t := len(traces) - 1; t >= 0; t-- {
		for i := len(traces[t].spans) - 1; i >= 0; i-- {
			if traces[t].spans[i].client == client && i != traces[t].missing {
				w.span(&traces[t], i)
				spans++
			}
		}
	}
	w.room(resourceBytes)
	w.enclose(tagScopeSpans, before)
	w.enclose(tagResourceSpans, 0)
	return spans
}

// span writes one span.
func (w *writer) span(t *trace, index int) {
	s := &t.spans[index]
	w.room(spanBytes(t.attributes, t.attributeBytes))
	before := w.written()
	w.raw(tagTraceID, t.id[:])
	w.raw(tagSpanID, s.id[:])
	kind := uint64(kindInternal)
	if s.parent == none {
		kind = kindServer
		w.raw(tagParentID, nil)
	} else {
		w.raw(tagParentID, t.spans[s.parent].id[:])
	}
	w.text(tagName, spanNames[index%len(spanNames)])
	w.varint(kind)
	w.byte(tagKind)
	w.fixed64(tagStart, uint64(t.begin+s.start.Nanoseconds()))
	w.fixed64(tagEnd, uint64(t.begin+s.end.Nanoseconds()))
	w.spanAttributes(t, index)
	status := w.written()
	if index == t.failed {
		w.varint(statusError)
		w.byte(tagStatusCode)
	}
	w.enclose(tagStatus, status)
	w.enclose(tagSpan, before)
}

// spanAttributes writes the extra attributes, and after them the risky one.
func (w *writer) spanAttributes(t *trace, index int) {
	seed := t.values + uint64(index)<<32
	if index == t.risky {
		w.lettersAttribute(riskyKey, riskyBytes, seed+uint64(t.attributes))
	}
	for a := t.attributes - 1; a >= 0; a-- {
		w.lettersAttribute(attributeKeys[a], t.attributeBytes, seed+uint64(a))
	}
}

func (w *writer) attribute(tag byte, key, value string) {
	before := w.written()
	w.text(tagKey, key)
	inner := w.written()
	w.text(tagString, value)
	w.enclose(tagValue, inner)
	w.enclose(tag, before)
}

func (w *writer) lettersAttribute(key string, length int, seed uint64) {
	before := w.written()
	w.text(tagKey, key)
	inner := w.written()
	w.letters(tagString, length, seed)
	w.enclose(tagValue, inner)
	w.enclose(tagSpanAttributes, before)
}
