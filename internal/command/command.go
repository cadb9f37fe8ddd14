// Package command runs a program from its command line.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const (
	exitFailed = 1 // the machine's fault: a full disk, a port that is taken
	exitUsage  = 2 // the caller's fault: wrong options
)

// UsageError is the caller's fault. A run returns it for what parse cannot see.
type UsageError struct{ Cause error }

func (e UsageError) Error() string { return e.Cause.Error() }

// Main runs a program until it ends by itself, or because a signal ended its context. An error is one line and an exit code.
func Main[T any](name string, parse func([]string, io.Writer) (T, error), run func(context.Context, T) error) {
	chosen, err := parse(os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		err = UsageError{err}
	default:
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		defer stop()
		err = run(ctx, chosen)
	}
	if err == nil {
		return
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	if errors.As(err, new(UsageError)) {
		os.Exit(exitUsage)
	}
	os.Exit(exitFailed)
}

// Parse reads a command line without arguments. The text of --help, which is usage and the options, goes to help.
func Parse(flags *flag.FlagSet, usage string, arguments []string, help io.Writer) error {
	flags.SetOutput(io.Discard) // an error is one line, without the help
	err := flags.Parse(arguments)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(help, usage)
		flags.SetOutput(help)
		flags.PrintDefaults()
	case err == nil && flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q; see --help", flags.Arg(0))
	}
	return err
}
