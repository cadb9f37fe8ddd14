// Command fortio sends HTTP requests in a closed loop by fortio's own runner and writes each of them down: see README.md
// beside this file.
package main

import (
	"flag"
	"fmt"
	"os"

	"fortio.org/log"

	common "tollbooth/internal/load"
	"tollbooth/internal/requests"
)

func main() {
	folder := flag.String("folder", "/out", "where load-<n>.json is read and requests-<n>.csv is written")
	flag.Parse()
	if err := run(*folder, os.Getenv("TARGET")); err != nil {
		fmt.Fprintln(os.Stderr, "fortio:", err)
		os.Exit(1)
	}
}

// run sends the folder's loads, each as it appears, until one that has no requests. Its error is one line.
func run(folder, target string) error {
	if err := common.CheckTarget(target); err != nil {
		return err
	}
	// It would write a line for each failed request. The rows say that they failed.
	log.SetLogLevelQuiet(log.Critical)
	return common.Each(folder, func(l load) ([]requests.Row, error) { return send(l, target) })
}
