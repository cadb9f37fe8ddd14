package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// adminHandler serves those who run the sink.
func (s *sink) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /counters", s.showCounters)
	mux.HandleFunc("GET /trace", s.showTrace)
	mux.HandleFunc("GET /spans", s.showSpans)
	mux.HandleFunc("PUT /behaviour", s.changeBehaviour)
	return mux
}

func (s *sink) showCounters(w http.ResponseWriter, _ *http.Request) {
	var duplicates *uint64 // left out if they are not counted
	if s.seen != nil {
		counted := s.counters.duplicateSpans.Load()
		duplicates = &counted
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct {
		Format          string  `json:"format"`
		Version         int     `json:"version"`
		AcceptedSpans   uint64  `json:"accepted_spans"`
		DuplicateSpans  *uint64 `json:"duplicate_spans,omitempty"`
		RefusedSpans    uint64  `json:"refused_spans"`
		Requests        uint64  `json:"requests"`
		DelayedRequests uint64  `json:"delayed_requests"`
		Bytes           uint64  `json:"bytes"`
	}{
		"tollbooth.sink", 1, s.counters.acceptedSpans.Load(), duplicates, s.counters.refusedSpans.Load(),
		s.counters.requests.Load(), s.counters.delayedRequests.Load(), s.counters.bytes.Load(),
	})
}

// trace is a `trace.json`.
type trace struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	TraceID string `json:"trace_id"`
	Spans   []span `json:"spans"`
}

func newTrace(id traceID, spans []span) *trace {
	return &trace{"tollbooth.trace", 1, hex.EncodeToString(id[:]), spans}
}

// showTrace answers with a `trace.json`, or with null as long as there is no complete trace.
func (s *sink) showTrace(w http.ResponseWriter, _ *http.Request) {
	var shown *trace
	if id, spans := s.traces.largest(); spans != nil {
		shown = newTrace(id, spans)
	}
	show(w, shown)
}

// showSpans answers with a `trace.json` of what is kept of the requested trace, complete or not.
func (s *sink) showSpans(w http.ResponseWriter, r *http.Request) {
	id, err := hex.DecodeString(r.URL.Query().Get("trace"))
	if err != nil || len(id) != len(traceID{}) {
		http.Error(w, "give ?trace= and the 32 hexadecimal digits of a trace ID", http.StatusBadRequest)
		return
	}
	show(w, newTrace(traceID(id), decoded(s.traces.of(traceID(id)))))
}

func show(w http.ResponseWriter, shown *trace) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(shown)
}

// changeBehaviour changes it for requests that come from now on.
func (s *sink) changeBehaviour(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Behaviour string  `json:"behaviour"`
		DelayMs   int32   `json:"delay_ms"`
		SpansPerS float64 `json:"spans_per_s"`
		Sender    string  `json:"sender"`
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1024))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil {
		http.Error(w, fmt.Sprintf(`give {"behaviour": "slow", "delay_ms": 10000}: %v`, err), http.StatusBadRequest)
		return
	}
	changed, err := newBehaviour(request.Behaviour, time.Duration(request.DelayMs)*time.Millisecond, request.SpansPerS)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	changed.sender = request.Sender
	s.behaviour.Store(&changed)
	w.WriteHeader(http.StatusNoContent)
}
