// The scraper records what OpenTelemetry Collectors count of themselves. See README.md in the folder above.
//
// It is not a part of the observer: an HTTP client would add to the memory of that one in every experiment, and the
// container that sees the host's processes should have no network.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"time"

	"tollbooth/internal/command"
	"tollbooth/internal/scrape"
)

const usage = `Usage: scraper --collectors NAME=URL,... --out FILE [options]

Scrapes OpenTelemetry Collectors' own metrics, and records their counters of spans, their queues and their memory
as JSON Lines, until it gets SIGTERM. A Collector that does not answer is scraped again.

Examples:
  scraper --collectors collector=http://collector:8888/metrics --out collector.jsonl
  scraper --collectors edge=http://edge:8888/metrics,gateway=http://gateway:8888/metrics --out collector.jsonl

Options:
`

const (
	shortestInterval = time.Second // a Collector reads its process's memory for each scrape
	timeout          = 2 * time.Second
)

func main() {
	runtime.GOMAXPROCS(1) // it waits nearly all the time
	command.Main("scraper", parse, scrape.Run)
}

// parse reads the command line. It writes the text of --help to help.
func parse(arguments []string, help io.Writer) (scrape.Config, error) {
	config := scrape.Config{Timeout: timeout}
	flags := flag.NewFlagSet("scraper", flag.ContinueOnError)
	collectors := flags.String("collectors", "", "`NAME=URL` of a Collector's own metrics; several with commas between them")
	flags.StringVar(&config.OutPath, "out", "", "`file` to write the record to")
	flags.DurationVar(&config.Interval, "interval", time.Second, "time between two scrapes of a Collector; 1s or more")
	err := command.Parse(flags, usage, arguments, help)
	switch {
	case err != nil:
		return config, err
	case *collectors == "":
		return config, errors.New("--collectors is missing; see --help")
	case config.OutPath == "":
		return config, errors.New("--out is missing; see --help")
	case config.Interval < shortestInterval:
		return config, fmt.Errorf("--interval %v is too short; give %v or more", config.Interval, shortestInterval)
	}
	config.Endpoints, err = scrape.ParseEndpoints(*collectors)
	if err != nil {
		return config, fmt.Errorf("--collectors %w", err)
	}
	return config, nil
}
