package main

import (
	"math/rand/v2"
	"time"
)

type (
	traceID [16]byte
	spanID  [8]byte
)

// span is one span of a drawn trace. Times count from the trace's begin.
type span struct {
	id         spanID
	parent     int // index; -1 of the root
	client     int
	start, end time.Duration
}

// None of the spans.
const none = -1

// trace is what one draw makes. Its memory is used again for the next.
type trace struct {
	id                         traceID
	begin                      int64 // Unix ns of the first span's start
	spans                      []span
	spanDuration               time.Duration
	attributes, attributeBytes int
	clients                    int
	missing, risky, failed     int    // index of the span that is not sent, has the risky attribute, has an error; or none
	values                     uint64 // seed of the attributes' values
}

// lasts is how long the trace lasts.
func (t *trace) lasts() time.Duration {
	if len(t.spans) == 0 {
		return 0
	}
	return t.spans[0].end
}

// sent is how many spans are sent.
func (t *trace) sent() int {
	if t.missing == none {
		return len(t.spans)
	}
	return len(t.spans) - 1
}

// drawer draws traces from a plan. What it draws is a function of the plan, the seed, and the numbers of worker and trace.
type drawer struct {
	plan   plan
	seed   uint64
	source rand.PCG
	random *rand.Rand
}

func newDrawer(p plan, seed uint64) *drawer {
	d := &drawer{plan: p, seed: seed}
	d.random = rand.New(&d.source)
	return d
}

// draw fills the trace with everything but its IDs and values.
func (d *drawer) draw(worker int, number uint64, t *trace) {
	d.source.Seed(d.seed, mixed(mixed(uint64(worker))+number))
	t.spanDuration = time.Duration(d.within(d.plan.SpanDurationMs)) * time.Millisecond
	t.attributes = d.within(d.plan.Attributes)
	t.attributeBytes = d.within(d.plan.AttributeBytes)
	t.clients = d.within(d.plan.Clients)
	d.drawSpans(d.within(d.plan.Spans), t)
	t.missing = none
	if len(t.spans) > 1 && d.happens(d.plan.IncompleteProbability) {
		t.missing = d.random.IntN(len(t.spans))
	}
	t.risky = d.sentOne(t, d.plan.RiskyProbability)
	t.failed = d.sentOne(t, d.plan.ErrorProbability)
}

// drawSpans draws the tree. A span is a child of the one before it, or its sibling. It works for its own duration, then its
// children work, all at the same time; it ends with the last of them.
func (d *drawer) drawSpans(count int, t *trace) {
	t.spans = t.spans[:0]
	for i := range count {
		s := span{parent: i - 1}
		if i > 0 {
			if i > 1 && d.happens(d.plan.SiblingProbability) {
				s.parent = t.spans[i-1].parent
			}
			if t.clients > 1 {
				s.client = d.random.IntN(t.clients)
			}
			s.start = t.spans[s.parent].start + t.spanDuration
		}
		s.end = s.start + t.spanDuration
		t.spans = append(t.spans, s)
	}
	for i := count - 1; i > 0; i-- {
		parent := &t.spans[t.spans[i].parent]
		parent.end = max(parent.end, t.spans[i].end)
	}
}

// within draws evenly within bounds.
func (d *drawer) within(b bounds) int {
	if b.Min == b.Max {
		return b.Min
	}
	return b.Min + d.random.IntN(b.Max-b.Min+1)
}

func (d *drawer) happens(probability float64) bool {
	return probability > 0 && d.random.Float64() < probability
}

// sentOne draws one of the spans that are sent, with this probability.
func (d *drawer) sentOne(t *trace, probability float64) int {
	if t.sent() == 0 || !d.happens(probability) {
		return none
	}
	drawn := d.random.IntN(t.sent())
	if t.missing != none && drawn >= t.missing {
		drawn++
	}
	return drawn
}

// golden and mixed are SplitMix64: Steele et al., Fast splittable pseudorandom number generators, 2014.
const golden = 0x9e3779b97f4a7c15

func mixed(z uint64) uint64 {
	z += golden
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
