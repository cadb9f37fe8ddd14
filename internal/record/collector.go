package record

import (
	"strconv"

	"tollbooth/internal/otelcol"
)

// Scrape is a Collector's answer to a request for its counters, or why there is none.
type Scrape struct {
	TNs           int64
	Name          string // the Collector's
	FailedScrapes uint64 // of this Collector, up to this one
	Fault         string // why it failed; empty if it did not
	otelcol.Counters
}

// AppendCollectorHeader appends the first line of collector.jsonl.
func AppendCollectorHeader(line []byte, intervalNs, tNs int64) []byte {
	line = append(line, `{"format":"tollbooth.collector","version":1`...)
	line = appendUint(line, "interval_ns", uint64(intervalNs))
	line = appendUint(line, "t_ns", uint64(tNs))
	return end(line)
}

// AppendScrape appends a scrape. One that failed has no counters.
func AppendScrape(line []byte, s *Scrape) []byte {
	line = append(line, `{"t_ns":`...)
	line = strconv.AppendInt(line, s.TNs, 10)
	line = appendString(line, "name", s.Name)
	line = appendUint(line, "failed_scrapes", s.FailedScrapes)
	if s.Fault != "" {
		return end(appendString(line, "error", s.Fault))
	}
	line = appendCount(line, "accepted_spans", s.AcceptedSpans)
	line = appendCount(line, "refused_spans", s.RefusedSpans)
	line = appendCount(line, "sent_spans", s.SentSpans)
	line = appendCount(line, "send_failed_spans", s.SendFailedSpans)
	line = appendCount(line, "enqueue_failed_spans", s.EnqueueFailedSpans)
	line = appendUint(line, "dropped_spans", s.SendFailedSpans.Value+s.EnqueueFailedSpans.Value)
	line = appendCount(line, "received_bytes", s.ReceivedBytes)
	line = appendCount(line, "queue_size", s.QueueSize)
	line = appendCount(line, "queue_capacity", s.QueueCapacity)
	line = appendCount(line, "process_rss_bytes", s.ProcessRSSBytes)
	return end(line)
}
