package main

import (
	"context"
	"net"
	"net/http"

	"tollbooth/internal/serve"
)

const (
	grpcPort   = 4317
	httpPort   = 4318
	zipkinPort = 9411
	adminPort  = 8888
)

// run serves all ports until the context ends. Its error says which port could not be had, or no longer works.
func run(ctx context.Context, s *sink, listen func(port int) (net.Listener, error)) error {
	return serve.Until(ctx, s.servers(), listen, func() { close(s.stopping) })
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
	return servers
}
