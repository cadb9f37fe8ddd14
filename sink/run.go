package main

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	grpcPort   = 4317
	httpPort   = 4318
	zipkinPort = 9411
	adminPort  = 8888
)

const (
	headerLimit   = 10 * time.Second // for a request's headers
	shutDownLimit = 3 * time.Second  // for requests that are being answered when the sink is told to end
)

// run serves all ports until the context ends. Its error says which port could not be had, or no longer works.
func run(ctx context.Context, initial behaviour, listen func(port int) (net.Listener, error)) error {
	s := newSink(initial)
	ended := make(chan error, 1)
	var servers []*http.Server
	for port, server := range s.servers() {
		listener, err := listen(port)
		if err != nil {
			return err
		}
		servers = append(servers, server)
		go func() {
			if err := server.Serve(listener); err != http.ErrServerClosed {
				ended <- err
			}
		}()
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	close(s.stopping)
	shutDown(servers)
	return nil
}

func (s *sink) servers() map[int]*http.Server {
	otlp, traces := http.NewServeMux(), http.NewServeMux()
	otlp.Handle("POST /v1/traces", s.handler(otlpHTTP))
	traces.Handle("POST /api/v2/spans", s.zipkinHandler())
	servers := map[int]*http.Server{
		grpcPort:   {Handler: s.grpcHandler(), Protocols: new(http.Protocols)},
		httpPort:   {Handler: otlp},
		zipkinPort: {Handler: traces},
		adminPort:  {Handler: s.adminHandler()},
	}
	servers[grpcPort].Protocols.SetUnencryptedHTTP2(true)
	for _, server := range servers {
		server.ReadHeaderTimeout = headerLimit
	}
	return servers
}

// shutDown lets requests that are being answered end, and closes what has not ended in time.
func shutDown(servers []*http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), shutDownLimit)
	defer cancel()
	var ending sync.WaitGroup
	for _, server := range servers {
		ending.Add(1)
		go func() {
			defer ending.Done()
			if server.Shutdown(ctx) != nil {
				_ = server.Close()
			}
		}()
	}
	ending.Wait()
}
