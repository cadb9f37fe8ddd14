// The sink takes spans as a tracing backend does, counts them and keeps only a few traces: see README.md beside this file.
package main

import (
	"context"
	"flag"
	"io"
	"strings"
	"time"

	"tollbooth/internal/command"
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

func main() {
	command.Main("sink", parse, func(ctx context.Context, chosen options) error {
		s := newSink(chosen.initial)
		if chosen.countDuplicates {
			s.seen = newSeenIDs(seenLimit)
		}
		return run(ctx, s, serve.Listen)
	})
}

// options are those of the command line.
type options struct {
	initial         behaviour
	countDuplicates bool
}

// parse reads the command line; the help text goes to help.
func parse(arguments []string, help io.Writer) (options, error) {
	flags := flag.NewFlagSet("sink", flag.ContinueOnError)
	name := flags.String("behaviour", accept, "how requests are answered: "+strings.Join(behaviours, ", "))
	delay := flags.Duration("delay", 10*time.Second, "how long a slow sink waits before it answers")
	spansPerS := flags.Float64("spans-per-s", 10_000, "how many spans per second a limited sink accepts")
	countDuplicates := flags.Bool("count-duplicates", false, "count OTLP spans whose ID came before")
	if err := command.Parse(flags, usage, arguments, help); err != nil {
		return options{}, err
	}
	initial, err := newBehaviour(*name, *delay, *spansPerS)
	return options{initial, *countDuplicates}, err
}
