package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"tollbooth/internal/serve"
)

const (
	requestPort = 8080
	adminPort   = 8888
)

const answer = "0123456789" // ten bytes, as published

// server counts the requests that it answered completely, and keeps the headers of the one that came last.
type server struct {
	delay    time.Duration
	answered atomic.Int64
	newest   atomic.Pointer[http.Header]
}

// run serves both ports until the context ends. Its error says which port could not be had, or no longer works.
func run(ctx context.Context, s *server, listen func(port int) (net.Listener, error)) error {
	servers := map[int]*http.Server{requestPort: {Handler: s}, adminPort: {Handler: s.admin()}}
	return serve.Until(ctx, servers, listen, func() {})
}

// ServeHTTP answers a request after the delay. A timer holds it back: requests that wait keep no thread busy.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.newest.Store(&r.Header)
	if s.delay > 0 {
		select {
		case <-time.After(s.delay):
		case <-r.Context().Done():
			return // nobody waits for the answer
		}
	}
	if _, err := w.Write([]byte(answer)); err == nil {
		s.answered.Add(1)
	}
}

func (s *server) admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /counters", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"format":"tollbooth.testserver","version":1,"requests":%d}`+"\n", s.answered.Load())
	})
	mux.HandleFunc("GET /headers", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(struct {
			Format  string       `json:"format"`
			Version int          `json:"version"`
			Headers *http.Header `json:"headers"`
		}{"tollbooth.headers", 1, s.newest.Load()})
	})
	return mux
}
