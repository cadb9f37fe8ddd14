package main

import (
	"bytes"
	"encoding/binary"
	"sync"
	"time"
)

const (
	traceLimit     = 64      // traces kept
	traceByteLimit = 8 << 20 // bytes of their spans
	quietTime      = 500 * time.Millisecond
)

type traceID [16]byte

// sample is a deterministic choice of trace IDs: all of them at 0, and half as many with each step up. An ID that is
// not in a sample is not in a later one either, so that all spans of a trace are kept, or none.
type sample uint32

func (s sample) has(id traceID) bool {
	mixed := binary.BigEndian.Uint64(id[8:]) * 0x9e3779b97f4a7c15 // IDs need not be random in each bit
	// The mix of an ID that ends in zeros is 0: it is only in the first sample, or it would be in all.
	return s == 0 || mixed != 0 && mixed>>(64-s) == 0
}

// rawSpan is a span as it was sent, until somebody requests its trace.
type rawSpan struct {
	trace   traceID
	service string
	content []byte
	decode  func(service string, content []byte) (span, error)
}

// span is one of a trace in the form of `trace.json`.
type span struct {
	ID         string  `json:"id"`
	Parent     *string `json:"parent"`
	Service    string  `json:"service"`
	Name       string  `json:"name"`
	Kind       string  `json:"kind"`
	StartNs    int64   `json:"start_ns"`
	DurationNs int64   `json:"duration_ns"`
	Tags       int     `json:"tags"`
}

// traces keeps a sample of the traces within fixed limits. The more traces arrive, the smaller is the sample.
type traces struct {
	now func() time.Time

	mutex  sync.Mutex
	sample sample
	byID   map[traceID]*keptTrace
	bytes  int
}

type keptTrace struct {
	spans []rawSpan
	bytes int
	grown time.Time
}

func newTraces() *traces { return &traces{now: time.Now, byID: map[traceID]*keptTrace{}} }

// wanted returns the sample whose spans are worth keeping now.
func (t *traces) wanted() sample {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.sample
}

// keep copies the spans whose traces are still in the sample.
func (t *traces) keep(spans []rawSpan) {
	if len(spans) == 0 {
		return
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := t.now()
	for _, raw := range spans {
		if !t.sample.has(raw.trace) {
			continue
		}
		kept := t.byID[raw.trace]
		if kept == nil {
			kept = &keptTrace{}
			t.byID[raw.trace] = kept
		}
		raw.content = bytes.Clone(raw.content)
		kept.spans = append(kept.spans, raw)
		kept.bytes += len(raw.content)
		kept.grown = now
		t.bytes += len(raw.content)
		t.shrink()
	}
}

// shrink takes smaller samples until the kept traces are within the limits.
func (t *traces) shrink() {
	for len(t.byID) > traceLimit || t.bytes > traceByteLimit {
		t.sample++
		for id, kept := range t.byID {
			if !t.sample.has(id) {
				t.bytes -= kept.bytes
				delete(t.byID, id)
			}
		}
	}
}

// largest returns the complete trace with the most spans, of several the one that started last; nil if there is none.
func (t *traces) largest() (id traceID, largest []span) {
	var latest int64
	for candidate, raw := range t.quiet() {
		spans := decoded(raw)
		root := rootOf(spans)
		if root == nil || len(spans) < len(largest) || len(spans) == len(largest) && root.StartNs <= latest {
			continue
		}
		id, largest, latest = candidate, spans, root.StartNs
	}
	return id, largest
}

// of returns the kept spans of a trace, complete or not.
func (t *traces) of(id traceID) []rawSpan {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if kept := t.byID[id]; kept != nil {
		return kept.spans
	}
	return nil
}

// quiet returns the spans of the traces that have not grown for a moment.
func (t *traces) quiet() map[traceID][]rawSpan {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	quiet := map[traceID][]rawSpan{}
	for id, kept := range t.byID {
		if t.now().Sub(kept.grown) >= quietTime {
			quiet[id] = kept.spans
		}
	}
	return quiet
}

// decoded returns each span once, however often it was sent, and nothing if one of them cannot be decoded. A span is
// known by its ID and its kind: in Zipkin's protocol the client's and the server's may share an ID.
func decoded(raw []rawSpan) []span {
	type identity struct{ id, kind string }
	known := map[identity]bool{}
	spans := make([]span, 0, len(raw))
	for _, one := range raw {
		decoded, err := one.decode(one.service, one.content)
		if err != nil {
			return nil
		}
		if own := (identity{decoded.ID, decoded.Kind}); !known[own] {
			known[own] = true
			spans = append(spans, decoded)
		}
	}
	return spans
}

// rootOf returns the first span without a parent, or nil if the trace is not complete: it has no such span, or the parent
// of another one is missing.
func rootOf(spans []span) (root *span) {
	known := map[string]bool{}
	for _, s := range spans {
		known[s.ID] = true
	}
	for i, s := range spans {
		switch {
		case s.Parent == nil && root == nil:
			root = &spans[i]
		case s.Parent != nil && !known[*s.Parent]:
			return nil
		}
	}
	return root
}
