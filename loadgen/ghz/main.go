// Command ghz sends gRPC requests by ghz's own runner and writes each of them down: see README.md beside this file.
package main

import (
	"flag"
	"fmt"
	"os"

	common "tollbooth/internal/load"
	"tollbooth/internal/requests"
)

func main() {
	folder := flag.String("folder", "/out", "where load-<n>.json is read and requests-<n>.csv is written")
	proto := flag.String("proto", "/mock.proto", "the definition of the call")
	flag.Parse()
	if err := run(*folder, *proto); err != nil {
		fmt.Fprintln(os.Stderr, "ghz:", err)
		os.Exit(1)
	}
}

// run sends the folder's loads, each as it appears, until one that has no requests. Its error is one line.
func run(folder, proto string) error {
	return common.Each(folder, func(l load) ([]requests.Row, error) { return sendLoad(l, proto) })
}

func sendLoad(l load, proto string) ([]requests.Row, error) {
	// ghz itself would count each request as failed.
	if _, err := common.Reach(l.Target); err != nil {
		return nil, err
	}
	sent, err := send(l, proto)
	if err == nil && l.Requests != nil && len(sent) < *l.Requests {
		return nil, fmt.Errorf("stopped after %d of %d requests", len(sent), *l.Requests)
	}
	return sent, err
}
