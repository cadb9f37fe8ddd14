package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	requestPort = 8080
	adminPort   = 8888
)

const (
	headerLimit   = 10 * time.Second // for a request's headers
	shutDownLimit = 3 * time.Second  // for requests that are being answered when the server is told to end
)

const answer = "0123456789" // ten bytes, as published

// server counts the requests that it answered completely.
type server struct {
	delay    time.Duration
	answered atomic.Int64
}

// run serves both ports until the context ends. Its error says which port could not be had, or no longer works.
func run(ctx context.Context, s *server, listen func(port int) (net.Listener, error)) error {
	ended := make(chan error, 2)
	for port, handler := range map[int]http.Handler{requestPort: s, adminPort: s.admin()} {
		listener, err := listen(port)
		if err != nil {
			return err
		}
		serving := &http.Server{Handler: handler, ReadHeaderTimeout: headerLimit}
		go func() {
			if err := serving.Serve(listener); err != http.ErrServerClosed {
				ended <- err
			}
		}()
		defer shutDown(serving)
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}

func shutDown(serving *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), shutDownLimit)
	defer cancel()
	if serving.Shutdown(ctx) != nil {
		_ = serving.Close()
	}
}

// ServeHTTP answers a request after the delay. A timer holds it back: requests that wait keep no thread busy.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	return mux
}
