package main

import (
	"cmp"
	"fmt"

	common "tollbooth/internal/load"
)

// Bounds of what a plan may say. Larger ones are mistakes.
const (
	maxSpans          = 10_000
	maxSpanDurationMs = 3_600_000
	maxAttributes     = 1000
	maxAttributeBytes = 65_536
	maxClients        = 100
	// Receivers of OTLP take messages up to this size, unless configured otherwise.
	maxRequestBytes = 4 << 20
)

// bounds are the smallest and the largest value of a number that each trace draws evenly.
type bounds struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// plan says what traces are like; README.md describes each field.
type plan struct {
	Spans                 bounds  `json:"spans"`
	SpanDurationMs        bounds  `json:"span_duration_ms"`
	Attributes            bounds  `json:"attributes"`
	AttributeBytes        bounds  `json:"attribute_bytes"`
	Clients               bounds  `json:"clients"`
	SiblingProbability    float64 `json:"sibling_probability"`
	IncompleteProbability float64 `json:"incomplete_probability"`
	RiskyProbability      float64 `json:"risky_probability"`
	ErrorProbability      float64 `json:"error_probability"`
}

// check returns the first rule that the plan breaks. A request carries so many traces.
func (p plan) check(tracesPerRequest int) error {
	within := func(field string, b bounds, least, most int) error {
		return cmp.Or(
			common.Broken(b.Min > b.Max, fmt.Sprintf("plan.%s: min is %d, above max, which is %d", field, b.Min, b.Max)),
			common.Broken(b.Min < least || b.Max > most, fmt.Sprintf("plan.%s: must be from %d to %d", field, least, most)),
		)
	}
	probability := func(field string, value float64) error {
		return common.Broken(!(value >= 0 && value <= 1), fmt.Sprintf("plan.%s: must be from 0 to 1", field))
	}
	bytes := tracesPerRequest * p.Spans.Max * spanBytes(p.Attributes.Max, p.AttributeBytes.Max)
	return cmp.Or(
		within("spans", p.Spans, 0, maxSpans),
		common.Broken(p.Spans.Max == 0, "plan.spans: max is 0, so that every trace would be empty"),
		within("span_duration_ms", p.SpanDurationMs, 0, maxSpanDurationMs),
		within("attributes", p.Attributes, 0, maxAttributes),
		within("attribute_bytes", p.AttributeBytes, 0, maxAttributeBytes),
		within("clients", p.Clients, 1, maxClients),
		probability("sibling_probability", p.SiblingProbability),
		probability("incomplete_probability", p.IncompleteProbability),
		probability("risky_probability", p.RiskyProbability),
		probability("error_probability", p.ErrorProbability),
		common.Broken(p.IncompleteProbability > 0 && p.Spans.Max < 2,
			"plan.incomplete_probability: a trace of one span cannot lack one"),
		common.Broken(bytes > maxRequestBytes, fmt.Sprintf(
			"plan: a request could have %d KiB, and receivers take %d: fewer spans, attributes or traces_per_request",
			bytes>>10, maxRequestBytes>>10)),
	)
}
