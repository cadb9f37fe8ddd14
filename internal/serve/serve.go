// Package serve runs a program's HTTP servers until it is to end.
package serve

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

const headerLimit = 10 * time.Second // for a request's headers

// ShutDownLimit is how long requests that are being answered may take once the program is to end.
const ShutDownLimit = 3 * time.Second

// Listen listens on a port of every interface.
func Listen(port int) (net.Listener, error) { return net.Listen("tcp", fmt.Sprint(":", port)) }

// Until serves each port until the context ends; then it calls ending, and lets requests that are being answered end.
// Its error says which port could not be had, or no longer works.
func Until(
	ctx context.Context, servers map[int]*http.Server, listen func(port int) (net.Listener, error), ending func(),
) error {
	failed := make(chan error, len(servers))
	for port, server := range servers {
		listener, err := listen(port)
		if err != nil {
			return err
		}
		server.ReadHeaderTimeout = headerLimit
		go func() {
			if err := server.Serve(listener); err != http.ErrServerClosed {
				failed <- err
			}
		}()
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ending()
	shutDown(servers)
	return nil
}

// shutDown closes what has not ended in time.
func shutDown(servers map[int]*http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), ShutDownLimit)
	defer cancel()
	var waiting sync.WaitGroup
	for _, server := range servers {
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			if server.Shutdown(ctx) != nil {
				_ = server.Close()
			}
		}()
	}
	waiting.Wait()
}
