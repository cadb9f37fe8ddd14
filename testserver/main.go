// The test server answers every request with ten bytes after a fixed delay: see README.md beside this file.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"time"

	"tollbooth/internal/command"
	"tollbooth/internal/serve"
)

const usage = `Usage: testserver [options]

Answers every request on port 8080 with ten bytes, after a fixed delay that keeps no thread busy.
On port 8888: GET /healthz, GET /counters and GET /headers.

Examples:
  testserver
  testserver --delay 0s

Options:
`

const longestDelay = time.Minute

func main() {
	command.Main("testserver", parse, func(ctx context.Context, delay time.Duration) error {
		return run(ctx, &server{delay: delay}, serve.Listen)
	})
}

// parse reads the command line; the help text goes to help.
func parse(arguments []string, help io.Writer) (time.Duration, error) {
	flags := flag.NewFlagSet("testserver", flag.ContinueOnError)
	delay := flags.Duration("delay", 10*time.Millisecond, "how long every answer is held back")
	if err := command.Parse(flags, usage, arguments, help); err != nil {
		return 0, err
	}
	if *delay < 0 || *delay > longestDelay {
		return 0, fmt.Errorf("a delay of %v is not possible; give 0 to %v", *delay, longestDelay)
	}
	return *delay, nil
}
