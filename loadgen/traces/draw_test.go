package main

import (
	"math"
	"slices"
	"testing"
	"time"
)

// realistic is the published plan of this name.
func realistic() plan {
	return plan{
		Spans: bounds{0, 20}, SpanDurationMs: bounds{0, 250}, Attributes: bounds{0, 10}, AttributeBytes: bounds{16, 16},
		Clients: bounds{1, 1},
	}
}

// drawn is a trace of the plan with IDs.
func drawn(p plan, seed uint64, worker int, number uint64) trace {
	var t trace
	newDrawer(p, seed).draw(worker, number, &t)
	newIdentifier(newLoadKey()).identify(&t)
	return t
}

func TestADrawIsAFunctionOfSeedWorkerAndNumber(t *testing.T) {
	p := realistic()
	p.SiblingProbability, p.Clients, p.RiskyProbability = 0.5, bounds{1, 3}, 0.5
	shape := func(seed uint64, worker int, number uint64) trace {
		var drawn trace
		d := newDrawer(p, seed)
		d.draw(7, 99, &drawn) // what was drawn before does not matter
		d.draw(worker, number, &drawn)
		return drawn
	}
	same := func(a, b trace) bool {
		return slices.Equal(a.spans, b.spans) && a.spanDuration == b.spanDuration && a.attributes == b.attributes &&
			a.clients == b.clients && a.risky == b.risky
	}
	if !same(shape(1, 2, 3), shape(1, 2, 3)) {
		t.Error("the same draw differs")
	}
	differ := 0
	for i := range uint64(100) {
		for _, other := range []trace{shape(2, 2, i), shape(1, 3, i), shape(1, 2, i+1)} {
			if !same(shape(1, 2, i), other) {
				differ++
			}
		}
	}
	if differ < 295 {
		t.Errorf("only %d of 300 other draws differ", differ)
	}
}

func TestNumbersAreDrawnEvenlyWithinTheirBounds(t *testing.T) {
	const draws = 21_000
	p := realistic()
	var spans [21]int
	var durations, attributes float64
	d, drawn := newDrawer(p, 1), trace{}
	for i := range uint64(draws) {
		d.draw(0, i, &drawn)
		spans[len(drawn.spans)]++
		durations += float64(drawn.spanDuration.Milliseconds()) / draws
		attributes += float64(drawn.attributes) / draws
	}
	for count, found := range spans {
		if math.Abs(float64(found)-1000) > 200 { // more than six standard deviations
			t.Errorf("%d traces of %d spans, expected about 1000", found, count)
		}
	}
	if math.Abs(durations-125) > 4 || math.Abs(attributes-5) > 0.2 {
		t.Errorf("mean duration %.1f ms, %.2f attributes; expected 125 and 5", durations, attributes)
	}
}

func TestSpansNestOrAreSiblings(t *testing.T) {
	p := realistic()
	p.Spans, p.SpanDurationMs = bounds{10, 10}, bounds{7, 7}
	for _, c := range []struct {
		siblings float64
		parents  []int
		lasts    time.Duration
	}{
		{0, []int{-1, 0, 1, 2, 3, 4, 5, 6, 7, 8}, 70 * time.Millisecond},
		{1, []int{-1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 14 * time.Millisecond},
	} {
		p.SiblingProbability = c.siblings
		found := drawn(p, 1, 0, 0)
		parents := make([]int, len(found.spans))
		for i, s := range found.spans {
			parents[i] = s.parent
		}
		if !slices.Equal(parents, c.parents) || found.lasts() != c.lasts {
			t.Errorf("siblings %v: parents %v, lasts %v", c.siblings, parents, found.lasts())
		}
	}
}

func TestAParentBeginsBeforeAndEndsAfterItsChildren(t *testing.T) {
	p := realistic()
	p.SiblingProbability, p.Clients = 0.4, bounds{1, 4}
	for i := range uint64(500) {
		found := drawn(p, 3, 0, i)
		for index, s := range found.spans {
			if (s.parent == none) != (index == 0) || s.parent >= index || s.client >= found.clients {
				t.Fatalf("span %d of trace %d: %+v", index, i, s)
			}
			if s.parent == none {
				continue
			}
			if above := found.spans[s.parent]; s.start != above.start+found.spanDuration || s.end > above.end {
				t.Fatalf("span %d of trace %d, %+v, does not fit into %+v", index, i, s, above)
			}
		}
	}
}

func TestWhatIsMissingRiskyOrFailedIsDrawnWithItsProbability(t *testing.T) {
	const draws = 10_000
	p := realistic()
	p.Spans = bounds{2, 5}
	p.IncompleteProbability, p.RiskyProbability, p.ErrorProbability = 0.2, 0.5, 0.1
	d, found := newDrawer(p, 1), trace{}
	missing, risky, failed := 0, 0, 0
	for i := range uint64(draws) {
		d.draw(0, i, &found)
		missing += zeroOrOne(found.missing != none)
		risky += zeroOrOne(found.risky != none)
		failed += zeroOrOne(found.failed != none)
		for _, index := range []int{found.missing, found.risky, found.failed} {
			if index != none && (index < 0 || index >= len(found.spans)) {
				t.Fatalf("trace %d has no span %d", i, index)
			}
		}
		if found.missing != none && (found.missing == found.risky || found.missing == found.failed) {
			t.Fatalf("trace %d: the risky or failed span is not sent", i)
		}
		if found.sent() != len(found.spans)-zeroOrOne(found.missing != none) {
			t.Fatalf("trace %d sends %d spans", i, found.sent())
		}
	}
	for name, c := range map[string][2]int{"missing": {missing, 2000}, "risky": {risky, 5000}, "failed": {failed, 1000}} {
		if math.Abs(float64(c[0]-c[1])) > 300 {
			t.Errorf("%s: %d of %d, expected about %d", name, c[0], draws, c[1])
		}
	}
}

func TestIDsAndValuesAreFresh(t *testing.T) {
	traces, spans, values := map[traceID]bool{}, map[spanID]bool{}, map[uint64]bool{}
	p := realistic()
	p.Spans = bounds{3, 3}
	for range 3 { // three generators with the same seed
		other := newLoadKey()
		ids, found, d := newIdentifier(newLoadKey()), trace{}, newDrawer(p, 1)
		for i := range uint64(1000) {
			d.draw(0, i, &found)
			ids.identify(&found)
			traces[found.id], values[found.values] = true, true
			if !ids.key.has(found.id) || other.has(found.id) {
				t.Errorf("nobody can tell which load %x is of", found.id)
			}
			for _, s := range found.spans {
				spans[s.id] = true
			}
		}
	}
	if len(traces) != 3000 || len(values) != 3000 || len(spans) != 9000 {
		t.Errorf("%d traces, %d values, %d spans", len(traces), len(values), len(spans))
	}
}
