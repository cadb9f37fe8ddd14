// The test server answers every request with ten bytes after a fixed delay: see README.md beside this file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

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

const (
	exitFailed = 1 // the machine's fault: a port that is taken
	exitUsage  = 2 // the caller's fault: wrong options
)

const longestDelay = time.Minute

func main() {
	delay, err := parse(os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		exit(exitUsage, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, &server{delay: delay}, serve.Listen); err != nil {
		exit(exitFailed, err)
	}
}

func exit(code int, err error) {
	fmt.Fprintln(os.Stderr, "testserver:", err)
	os.Exit(code)
}

// parse reads the command line; the help text goes to help.
func parse(arguments []string, help io.Writer) (time.Duration, error) {
	flags := flag.NewFlagSet("testserver", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line, without the help
	delay := flags.Duration("delay", 10*time.Millisecond, "how long every answer is held back")
	err := flags.Parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(help, usage)
		flags.SetOutput(help)
		flags.PrintDefaults()
	}
	if err != nil {
		return 0, err
	}
	if flags.NArg() > 0 {
		return 0, fmt.Errorf("unexpected argument %q; see --help", flags.Arg(0))
	}
	if *delay < 0 || *delay > longestDelay {
		return 0, fmt.Errorf("a delay of %v is not possible; give 0 to %v", *delay, longestDelay)
	}
	return *delay, nil
}
