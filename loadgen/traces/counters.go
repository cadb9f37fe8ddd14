package main

import (
	"context"
	"encoding/json"
	"runtime"
	"sync/atomic"
	"time"

	"tollbooth/internal/kernfile"
	"tollbooth/internal/self"
)

const (
	countersFormat  = "tollbooth.generator"
	countersVersion = 1
	countEvery      = time.Second
)

// counters since the load's begin. A sent trace counts once more when its outcome is known.
type counters struct {
	workers                              atomic.Int64
	sent, spans, requests, bytes, unsent atomic.Uint64
	unexpected                           atomic.Uint64 // spans that came back and nobody waited for
	awaited, returned                    atomic.Uint64 // an open loop's own spans that were sent, and came back: weights
	outcomes                             [len(outcomeNames)]atomic.Uint64
}

// countersHeader is the first line of the file.
type countersHeader struct {
	Format     string   `json:"format"`
	Version    int      `json:"version"`
	TNs        int64    `json:"t_ns"`
	IntervalNs int64    `json:"interval_ns"`
	Targets    []string `json:"targets"`
	CPUs       int      `json:"cpus"`
	GoMaxProcs int      `json:"gomaxprocs"`
	OpenFiles  uint64   `json:"open_files_limit"`
}

// countersLine is one reading. All but workers, connections and memory are monotonic.
type countersLine struct {
	TNs                int64  `json:"t_ns"`
	Workers            int64  `json:"workers"`
	ConnectionsOpened  uint64 `json:"connections_opened"`
	Requests           uint64 `json:"requests"`
	TracesSent         uint64 `json:"traces_sent"`
	SpansSent          uint64 `json:"spans_sent"`
	BytesSent          uint64 `json:"bytes_sent"`
	Success            uint64 `json:"success"`
	SendTimeout        uint64 `json:"send_timeout"`
	SendError          uint64 `json:"send_error"`
	ReceiveTimeout     uint64 `json:"receive_timeout"`
	Shutdown           uint64 `json:"shutdown"`
	Accepted           uint64 `json:"accepted"`
	Empty              uint64 `json:"empty"`
	NotSent            uint64 `json:"not_sent"`
	ReceiveConnections int64  `json:"receive_connections"`
	ReceivedRequests   uint64 `json:"received_requests"`
	ReceivedSpans      uint64 `json:"received_spans"`
	UnexpectedSpans    uint64 `json:"unexpected_spans"`
	Malformed          uint64 `json:"malformed"`
	CPUNs              uint64 `json:"cpu_ns"`
	RSSBytes           uint64 `json:"rss_bytes"`
}

// read reads all counters. The receiver's and the process's count since the start of the program.
func (r *run) read(own *self.Reader, buffer *kernfile.Buffer) (countersLine, error) {
	c := &r.counters
	cost, err := own.Read(buffer)
	line := countersLine{
		TNs:                r.clock.Now(),
		Workers:            c.workers.Load(),
		Requests:           c.requests.Load(),
		SpansSent:          c.spans.Load(),
		BytesSent:          c.bytes.Load(),
		Success:            c.outcomes[success].Load(),
		SendTimeout:        c.outcomes[sendTimeout].Load(),
		SendError:          c.outcomes[sendError].Load(),
		ReceiveTimeout:     c.outcomes[receiveTimeout].Load(),
		Shutdown:           c.outcomes[shutdown].Load(),
		Accepted:           c.outcomes[accepted].Load(),
		Empty:              c.outcomes[empty].Load(),
		NotSent:            c.unsent.Load(),
		TracesSent:         c.sent.Load(), // after the outcomes: never less than their sum
		ReceiveConnections: r.receiver.connections.Load(),
		ReceivedRequests:   r.receiver.requests.Load(),
		ReceivedSpans:      r.receiver.spans.Load(),
		UnexpectedSpans:    c.unexpected.Load(),
		Malformed:          r.receiver.rejected.Load(),
		CPUNs:              cost.CPUNs,
		RSSBytes:           cost.RSSBytes,
	}
	for _, o := range r.openers {
		line.ConnectionsOpened += o.dialer.opened.Load()
	}
	return line, err
}

// count writes a line each second, and a last one when the context ends.
func (r *run) count(ctx context.Context, to *recorder) {
	own, err := self.Open("/proc")
	if err != nil {
		r.fail(err)
		return
	}
	defer own.Close()
	var buffer kernfile.Buffer
	ticker := time.NewTicker(countEvery)
	defer ticker.Stop()
	for ended := false; !ended; {
		line, err := r.read(own, &buffer)
		if err != nil {
			r.fail(err)
			return
		}
		writeJSON(to, line)
		r.flush()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			ended = true
		}
	}
	if line, err := r.read(own, &buffer); err == nil {
		writeJSON(to, line)
	}
}

func (r *run) header() countersHeader {
	names := make([]string, len(r.openers))
	for i, o := range r.openers {
		names[i] = o.dialer.target
	}
	return countersHeader{
		countersFormat, countersVersion, r.clock.Now(), countEvery.Nanoseconds(), names,
		runtime.NumCPU(), runtime.GOMAXPROCS(0), openFilesLimit(),
	}
}

func writeJSON(to *recorder, value any) {
	text, _ := json.Marshal(value) // numbers and names always can be
	to.add(append(text, '\n'))
}
