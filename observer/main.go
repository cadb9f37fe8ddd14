// The observer records counters of containers, the machine and itself. See README.md in this folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"time"

	"tollbooth/internal/command"
	"tollbooth/internal/observe"
	"tollbooth/internal/targets"
)

const version = "0.1.0"

const usage = `Usage: observer --targets FILE --out FILE [options]

Records CPU, memory and network of the containers in FILE, and of the machine, as JSON Lines, until it gets SIGTERM.
It waits for the targets file if that is not there yet, and reads it again when it changes.

Examples:
  observer --targets targets.json --out counters.jsonl
  observer --targets targets.json --out counters.jsonl --interval 100ms
  observer --targets targets.json --out /dev/stdout --cgroup-root /sys/fs/cgroup

Options:
`

const (
	shortestInterval     = 50 * time.Millisecond
	shortestSlowInterval = time.Second
)

func main() {
	runtime.GOMAXPROCS(1) // one loop needs one processor: a second would only wake up to search for work
	command.Main("observer", parse, run)
}

// run observes until ctx ends. A wrong targets file is an error of the caller.
func run(ctx context.Context, config observe.Config) error {
	err := observe.Run(ctx, config)
	var invalid *targets.InvalidError
	if errors.As(err, &invalid) {
		return command.UsageError{Cause: err}
	}
	return err
}

// parse reads the command line. It writes the text of --help to help.
func parse(arguments []string, help io.Writer) (observe.Config, error) {
	config := observe.Config{SysRoot: "/sys", ObserverVersion: version}
	flags := flag.NewFlagSet("observer", flag.ContinueOnError)
	flags.StringVar(&config.TargetsPath, "targets", "", "`file` that lists the containers to observe")
	flags.StringVar(&config.OutPath, "out", "", "`file` to write the record to")
	flags.DurationVar(&config.Interval, "interval", time.Second, "time between samples of CPU, memory and network; 50ms or more")
	flags.DurationVar(&config.SlowInterval, "slow-interval", time.Second, "time between samples of everything else; 1s or more")
	flags.StringVar(&config.CgroupRoot, "cgroup-root", "/host/cgroup", "`folder` where the host's /sys/fs/cgroup is mounted")
	flags.StringVar(&config.ProcRoot, "proc-root", "/proc", "`folder` where the host's /proc is mounted")
	if err := command.Parse(flags, usage, arguments, help); err != nil {
		return config, err
	}
	return config, check(config)
}

func check(config observe.Config) error {
	switch {
	case config.TargetsPath == "":
		return errors.New("--targets is missing; see --help")
	case config.OutPath == "":
		return errors.New("--out is missing; see --help")
	case config.Interval < shortestInterval:
		return fmt.Errorf("--interval %v is too short; give %v or more", config.Interval, shortestInterval)
	case config.SlowInterval < shortestSlowInterval:
		return fmt.Errorf("--slow-interval %v is too short; give %v or more", config.SlowInterval, shortestSlowInterval)
	case config.SlowInterval < config.Interval:
		return fmt.Errorf("--slow-interval %v is shorter than --interval %v", config.SlowInterval, config.Interval)
	}
	return nil
}
