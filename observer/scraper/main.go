// The scraper records what OpenTelemetry Collectors count of themselves. See README.md in the folder above.
//
// It is not a part of the observer: an HTTP client would add to the memory of that one in every experiment, and the
// container that sees the host's processes should have no network.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

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
	exitFailed = 1 // an error of the machine: a full disk
	exitUsage  = 2 // an error of the caller: wrong options
)

const (
	shortestInterval = time.Second // a Collector reads its process's memory for each scrape
	timeout          = 2 * time.Second
)

func main() {
	config, err := parse(os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		exit(exitUsage, err)
	}
	runtime.GOMAXPROCS(1) // it waits nearly all the time
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := scrape.Run(ctx, config); err != nil {
		exit(exitFailed, err)
	}
}

func exit(code int, err error) {
	fmt.Fprintln(os.Stderr, "scraper:", err)
	os.Exit(code)
}

// parse reads the command line. It writes the text of --help to help.
func parse(arguments []string, help io.Writer) (scrape.Config, error) {
	config := scrape.Config{Timeout: timeout}
	flags := flag.NewFlagSet("scraper", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line, without the help
	collectors := flags.String("collectors", "", "`NAME=URL` of a Collector's own metrics; several with commas between them")
	flags.StringVar(&config.OutPath, "out", "", "`file` to write the record to")
	flags.DurationVar(&config.Interval, "interval", time.Second, "time between two scrapes of a Collector; 1s or more")
	err := flags.Parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(help, usage)
		flags.SetOutput(help)
		flags.PrintDefaults()
	}
	switch {
	case err != nil:
		return config, err
	case flags.NArg() > 0:
		return config, fmt.Errorf("unexpected argument %q; see --help", flags.Arg(0))
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
