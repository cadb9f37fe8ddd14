package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"
)

const (
	recordHeader = "# tollbooth.traces v1\n" +
		"trace_id,worker,number,outcome,code,spans,spans_sent,spans_received,span_duration_ms,attributes,attribute_bytes," +
		"clients,risky,error,waited_ns,intended_ns,loop_after_ns,send_start_after_ns,send_end_after_ns," +
		"receive_start_after_ns,receive_end_after_ns,logged_after_ns\n"
	recordFields = 22
	// No record is longer: fields are as long as the bounds of a load permit.
	maxRecordBytes = 256
	// never is a time at which nothing happened. Its field is empty.
	never = math.MinInt64
)

// record is what is logged of a trace. Times are in ns after `intended`, which is Unix ns.
type record struct {
	id                                                 traceID
	worker                                             int
	number                                             uint64
	outcome                                            outcome
	code                                               int
	spans, spansSent, spansReceived                    int
	spanDurationMs, attributes, attributeBytes         int
	clients                                            int
	risky, failed                                      bool
	waited, intended                                   int64
	loop, sendStart, sendEnd, receiveStart, receiveEnd int64
	logged                                             int64
}

// recordOf begins a record with what was drawn.
func recordOf(worker int, number uint64, intended int64, t *trace) record {
	return record{
		id: t.id, worker: worker, number: number, spans: len(t.spans), spansSent: t.sent(),
		spanDurationMs: int(t.spanDuration / time.Millisecond), attributes: t.attributes, attributeBytes: t.attributeBytes,
		clients: t.clients, risky: t.risky != none, failed: t.failed != none, intended: intended,
		sendStart: never, sendEnd: never, receiveStart: never, receiveEnd: never,
	}
}

// shape is what plan and seed determine of a trace, as far as its record has it. A replay holds one for each trace of a
// log, which may have millions.
type shape struct {
	spans, sent, durationMs, attributes, attributeBytes, clients int32
	risky, failed                                                bool
}

// unlogged is of a trace that no log has.
var unlogged = shape{spans: none}

func (r *record) shape() shape {
	return shape{
		int32(r.spans), int32(r.spansSent), int32(r.spanDurationMs), int32(r.attributes), int32(r.attributeBytes),
		int32(r.clients), r.risky, r.failed,
	}
}

// String describes the shape in a message.
func (s shape) String() string {
	return fmt.Sprintf("%d spans (%d sent) of %d ms, %d attributes of %d bytes, clients: %d, risky: %t, error: %t",
		s.spans, s.sent, s.durationMs, s.attributes, s.attributeBytes, s.clients, s.risky, s.failed)
}

// append appends the record's line.
func (r *record) append(line []byte) []byte {
	line = hex.AppendEncode(line, r.id[:])
	line = appendNumber(line, int64(r.worker))
	line = append(line, ',')
	line = strconv.AppendUint(line, r.number, 10)
	line = append(line, ',')
	line = append(line, r.outcome.String()...)
	for _, value := range [...]int{
		r.code, r.spans, r.spansSent, r.spansReceived, r.spanDurationMs, r.attributes, r.attributeBytes, r.clients,
		zeroOrOne(r.risky), zeroOrOne(r.failed),
	} {
		line = appendNumber(line, int64(value))
	}
	line = appendNumber(line, r.waited)
	line = appendNumber(line, r.intended)
	for _, after := range [...]int64{r.loop, r.sendStart, r.sendEnd, r.receiveStart, r.receiveEnd, r.logged} {
		if after == never {
			line = append(line, ',')
		} else {
			line = appendNumber(line, after)
		}
	}
	return append(line, '\n')
}

func appendNumber(line []byte, value int64) []byte {
	return strconv.AppendInt(append(line, ','), value, 10)
}

func zeroOrOne(value bool) int {
	if value {
		return 1
	}
	return 0
}

// parseRecord reads a record's line, without its end.
func parseRecord(line []byte) (record, error) {
	fields := bytes.Split(line, []byte(","))
	if len(fields) != recordFields {
		return record{}, fmt.Errorf("has %d fields, not %d", len(fields), recordFields)
	}
	r, p := record{}, fieldParser{fields: fields}
	r.id = p.id()
	r.worker, r.number = int(p.number()), uint64(p.number())
	r.outcome = p.outcome()
	for _, field := range []*int{
		&r.code, &r.spans, &r.spansSent, &r.spansReceived, &r.spanDurationMs, &r.attributes, &r.attributeBytes, &r.clients,
	} {
		*field = int(p.number())
	}
	r.risky, r.failed = p.number() == 1, p.number() == 1
	r.waited, r.intended = p.number(), p.number()
	for _, after := range []*int64{&r.loop, &r.sendStart, &r.sendEnd, &r.receiveStart, &r.receiveEnd, &r.logged} {
		*after = p.after()
	}
	return r, p.err
}

// fieldParser takes fields one after another. It keeps the first error.
type fieldParser struct {
	fields [][]byte
	err    error
}

func (p *fieldParser) next() []byte {
	field := p.fields[0]
	p.fields = p.fields[1:]
	return field
}

func (p *fieldParser) id() (id traceID) {
	field := p.next()
	if n, err := hex.Decode(id[:], field[:min(len(field), 2*len(id))]); err != nil || n != len(id) || len(field) != 2*n {
		p.failed("trace ID", field)
	}
	return id
}

func (p *fieldParser) number() int64 {
	field := p.next()
	value, err := strconv.ParseInt(string(field), 10, 64)
	if err != nil {
		p.failed("number", field)
	}
	return value
}

func (p *fieldParser) outcome() outcome {
	field := p.next()
	found, known := outcomeOf(string(field))
	if !known {
		p.failed("outcome", field)
	}
	return found
}

func (p *fieldParser) after() int64 {
	if len(p.fields[0]) == 0 {
		p.next()
		return never
	}
	return p.number()
}

func (p *fieldParser) failed(what string, field []byte) {
	if p.err == nil {
		p.err = fmt.Errorf("%q is no %s", field, what)
	}
}
