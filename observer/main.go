// The observer records counters of containers, the machine and itself. See README.md in this folder.
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
	exitFailed = 1 // an error of the machine: a full disk, no control groups
	exitUsage  = 2 // an error of the caller: wrong options, a wrong targets file
)

const (
	shortestInterval     = 50 * time.Millisecond
	shortestSlowInterval = time.Second
)

func main() {
	config, err := parse(os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		exit(exitUsage, err)
	}
	runtime.GOMAXPROCS(1) // one loop needs one processor: a second would only wake up to search for work
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	err = observe.Run(ctx, config)
	var invalid *targets.InvalidError
	if errors.As(err, &invalid) {
		exit(exitUsage, err)
	}
	if err != nil {
		exit(exitFailed, err)
	}
}

func exit(code int, err error) {
	fmt.Fprintln(os.Stderr, "observer:", err)
	os.Exit(code)
}

// parse reads the command line. It writes the text of --help to help.
func parse(arguments []string, help io.Writer) (observe.Config, error) {
	config := observe.Config{SysRoot: "/sys", ObserverVersion: version}
	flags := flag.NewFlagSet("observer", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line, without the help
	flags.StringVar(&config.TargetsPath, "targets", "", "`file` that lists the containers to observe")
	flags.StringVar(&config.OutPath, "out", "", "`file` to write the record to")
	flags.DurationVar(&config.Interval, "interval", time.Second, "time between samples of CPU, memory and network; 50ms or more")
	flags.DurationVar(&config.SlowInterval, "slow-interval", time.Second, "time between samples of everything else; 1s or more")
	flags.StringVar(&config.CgroupRoot, "cgroup-root", "/host/cgroup", "`folder` where the host's /sys/fs/cgroup is mounted")
	flags.StringVar(&config.ProcRoot, "proc-root", "/proc", "`folder` where the host's /proc is mounted")
	err := flags.Parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(help, usage)
		flags.SetOutput(help)
		flags.PrintDefaults()
	}
	if err != nil {
		return config, err
	}
	return config, check(config, flags.Args())
}

func check(config observe.Config, rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q; see --help", rest[0])
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
