// Package otelcol reads what an OpenTelemetry Collector counts of itself: its own metrics in Prometheus's text format.
package otelcol

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"tollbooth/internal/parse"
)

// Counters are sums over a Collector's receivers, exporters and signals.
type Counters struct {
	AcceptedSpans, RefusedSpans parse.Count // by receivers

	// By exporters.
	SentSpans, SendFailedSpans, EnqueueFailedSpans parse.Count

	ReceivedBytes   parse.Count // messages over gRPC, uncompressed
	QueueSize       parse.Count // of exporters, in the unit of their queues
	QueueCapacity   parse.Count
	ProcessRSSBytes parse.Count
}

// tooLarge is the first number that a float64 cannot distinguish from the next.
const tooLarge = 1 << 53

// Parse reads the text. Its error says what is wrong with a line, or that the text is not a Collector's.
func Parse(text []byte) (Counters, error) {
	var found Counters
	for line, rest := parse.Line(text); line != nil; line, rest = parse.Line(rest) {
		name, labelsAndValue := cutName(line)
		counter := found.named(name)
		if counter == nil {
			continue
		}
		value, err := valueOf(labelsAndValue)
		if err != nil {
			return Counters{}, fmt.Errorf("%s: %w", name, err)
		}
		*counter = parse.Known(counter.Value + value)
	}
	if found == (Counters{}) {
		return Counters{}, errors.New("the text has no metric of a Collector")
	}
	// A counter is not shown before it counts for the first time.
	for _, counter := range []*parse.Count{
		&found.AcceptedSpans, &found.RefusedSpans, &found.SentSpans, &found.SendFailedSpans, &found.EnqueueFailedSpans,
	} {
		counter.Known = true
	}
	return found, nil
}

// named returns the counter that a metric is added to; nil if none. Of two names the first is that of Collector 0.111.0,
// which adds neither units nor _total. Later releases add both, unless their configuration says otherwise.
func (c *Counters) named(name []byte) *parse.Count {
	switch string(name) {
	case "otelcol_receiver_accepted_spans", "otelcol_receiver_accepted_spans_total":
		return &c.AcceptedSpans
	case "otelcol_receiver_refused_spans", "otelcol_receiver_refused_spans_total":
		return &c.RefusedSpans
	case "otelcol_exporter_sent_spans", "otelcol_exporter_sent_spans_total":
		return &c.SentSpans
	case "otelcol_exporter_send_failed_spans", "otelcol_exporter_send_failed_spans_total":
		return &c.SendFailedSpans
	case "otelcol_exporter_enqueue_failed_spans", "otelcol_exporter_enqueue_failed_spans_total":
		return &c.EnqueueFailedSpans
	case "rpc_server_request_size_sum", "rpc_server_request_size_bytes_sum":
		return &c.ReceivedBytes
	case "otelcol_exporter_queue_size":
		return &c.QueueSize
	case "otelcol_exporter_queue_capacity":
		return &c.QueueCapacity
	case "otelcol_process_memory_rss", "otelcol_process_memory_rss_bytes":
		return &c.ProcessRSSBytes
	}
	return nil
}

func cutName(line []byte) (name, labelsAndValue []byte) {
	end := bytes.IndexAny(line, "{ \t")
	if end < 0 {
		return line, nil
	}
	return line[:end], line[end:]
}

// valueOf reads the value between a sample's labels and its time, both of which it may not have.
func valueOf(labelsAndValue []byte) (uint64, error) {
	word, _ := parse.Word(afterLabels(bytes.TrimLeft(labelsAndValue, " \t")))
	value, err := strconv.ParseFloat(string(word), 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a number", word)
	}
	if math.IsNaN(value) || value < 0 || value >= tooLarge {
		return 0, fmt.Errorf("%v is not a count", value)
	}
	return uint64(value), nil
}

// afterLabels returns the text after the closing brace: nothing if it is missing. A brace in quotes closes nothing.
func afterLabels(text []byte) []byte {
	if len(text) == 0 || text[0] != '{' {
		return text
	}
	quoted := false
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == '}' && !quoted:
			return text[i+1:]
		}
	}
	return nil
}
