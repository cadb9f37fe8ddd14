// The sink takes spans as a tracing backend does, counts them and keeps only a few traces: see README.md beside this file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"tollbooth/internal/serve"
)

const usage = `Usage: sink [options]

Takes OTLP over gRPC (port 4317) and HTTP (4318) and Zipkin v2 (9411), counts the spans and keeps a few traces.
On port 8888: GET /healthz, GET /counters, GET /trace, GET /spans, and PUT /behaviour, which changes the behaviour while it runs.

Examples:
  sink
  sink --behaviour slow --delay 10s
  sink --behaviour limited --spans-per-s 20000
  sink --behaviour refuse
  sink --count-duplicates

Options:
`

const (
	exitFailed = 1 // the machine's fault: a port that is taken
	exitUsage  = 2 // the caller's fault: wrong options
)

func main() {
	chosen, err := parse(os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		exit(exitUsage, err)
	}
	s := newSink(chosen.initial)
	if chosen.countDuplicates {
		s.seen = newSeenIDs(seenLimit)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, s, serve.Listen); err != nil {
		exit(exitFailed, err)
	}
}

func exit(code int, err error) {
	fmt.Fprintln(os.Stderr, "sink:", err)
	os.Exit(code)
}

// options are those of the command line.
type options struct {
	initial         behaviour
	countDuplicates bool
}

// parse reads the command line; the help text goes to help.
func parse(arguments []string, help io.Writer) (options, error) {
	flags := flag.NewFlagSet("sink", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line, without the help
	name := flags.String("behaviour", accept, "how requests are answered: "+strings.Join(behaviours, ", "))
	delay := flags.Duration("delay", 10*time.Second, "how long a slow sink waits before it answers")
	spansPerS := flags.Float64("spans-per-s", 10_000, "how many spans per second a limited sink accepts")
	countDuplicates := flags.Bool("count-duplicates", false, "count OTLP spans whose ID came before")
	err := flags.Parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(help, usage)
		flags.SetOutput(help)
		flags.PrintDefaults()
	}
	if err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q; see --help", flags.Arg(0))
	}
	initial, err := newBehaviour(*name, *delay, *spansPerS)
	return options{initial, *countDuplicates}, err
}
