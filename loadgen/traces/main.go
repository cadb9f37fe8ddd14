// Command traces sends traces over OTLP, receives them back, and records what became of each: see README.md beside this file.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	common "tollbooth/internal/load"
)

// With as many as CPUs, a thread that wakes to send could find all of them taken by answers, and wait for one.
const threadsPerCPU = 4

func main() {
	if len(os.Args) > 1 && os.Args[1] == "bench" {
		exit(benchmark(os.Args[2:], os.Args[0], os.Stdout))
	}
	folder := flag.String("folder", "/out", "where load-<n>.json is read and records are written")
	grpcAddress := flag.String("grpc", ":4317", "where traces come back over gRPC")
	httpAddress := flag.String("http", ":4318", "where traces come back over HTTP")
	flag.Parse()
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(threadsPerCPU * runtime.GOMAXPROCS(0))
	}
	stop, done := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer done()
	exit(serve(stop, *folder, os.Getenv("TARGET"), *grpcAddress, *httpAddress))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "traces:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve sends the folder's loads, each as it appears, until one that sends nothing, or a signal. Its error is one line.
func serve(stop context.Context, folder, target, grpcAddress, httpAddress string) error {
	to, err := targets(target)
	if err != nil {
		return err
	}
	overGRPC, err := net.Listen("tcp", grpcAddress)
	if err != nil {
		return err
	}
	overHTTP, err := net.Listen("tcp", httpAddress)
	if err != nil {
		return err
	}
	back := newReceiver()
	back.serve(overGRPC, overHTTP)
	defer back.stop()
	g := &generator{folder: folder, targets: to, receiver: back, stop: stop}
	ended := make(chan error, 1)
	go func() { ended <- common.Numbered(folder, g.send) }()
	select {
	case err := <-ended:
		return err
	case <-stop.Done():
		g.busy.Lock() // a load that is under way leaves its records first
		if g.err != nil {
			return <-ended // with the name of the load's file
		}
		return nil
	}
}
