// The spinner keeps the CPUs busy and measures their speed. See README.md in this folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"tollbooth/internal/command"
)

const usage = `Usage: spinner --out FILE [options]

Walks a ring half as large as a CPU's share of the second-level cache whenever that CPU has nothing else to do, and
writes how many steps that were and how long they took. Give it the lowest priority:
chrt --idle 0 spinner --out speed.jsonl

Options:
`

func main() { command.Main("spinner", parse, spinInto) }

// spinInto spins until ctx ends and writes the record to a file.
func spinInto(ctx context.Context, chosen options) error {
	file, err := os.Create(chosen.out)
	if err != nil {
		return err
	}
	if err := run(ctx, file, chosen.interval, ringBytes("/", runtime.NumCPU())); err != nil {
		return err
	}
	return file.Close()
}

type options struct {
	out      string
	interval time.Duration
}

// parse reads the command line. It writes the text of --help to help.
func parse(arguments []string, help io.Writer) (options, error) {
	flags := flag.NewFlagSet("spinner", flag.ContinueOnError)
	var chosen options
	flags.StringVar(&chosen.out, "out", "", "file to write to")
	flags.DurationVar(&chosen.interval, "interval", time.Second, "time between two records")
	err := command.Parse(flags, usage, arguments, help)
	switch {
	case err != nil:
		return options{}, err
	case chosen.out == "":
		return options{}, errors.New("--out is missing; see --help")
	case chosen.interval < 10*time.Millisecond:
		return options{}, fmt.Errorf("--interval %v is too short; give 10ms or more", chosen.interval)
	}
	return chosen, nil
}
