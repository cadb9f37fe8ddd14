package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
)

const (
	arrivalHeader = "# tollbooth.arrivals v1\ntrace_id,spans,receive_ns\n"
	arrivalFields = 3
)

// arrival is one part of a trace that came back in an open loop.
type arrival struct {
	part
	ns int64
}

// append appends the arrival's line.
func (a arrival) append(line []byte) []byte {
	line = hex.AppendEncode(line, a.id[:])
	line = appendNumber(line, int64(a.spans))
	return append(appendNumber(line, a.ns), '\n')
}

// parseArrival reads an arrival's line, without its end.
func parseArrival(line []byte) (arrival, error) {
	fields := bytes.Split(line, []byte(","))
	if len(fields) != arrivalFields {
		return arrival{}, fmt.Errorf("has %d fields, not %d", len(fields), arrivalFields)
	}
	p := fieldParser{fields: fields}
	a := arrival{part{p.id(), int(p.number())}, p.number()}
	return a, p.err
}
