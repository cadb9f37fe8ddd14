package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tollbooth/internal/command"
)

func TestWrongOptionsAreOneLine(t *testing.T) {
	for arguments, want := range map[string]string{
		"":                                    "--targets is missing",
		"--targets t":                         "--out is missing",
		"--targets t --out o --interval 10":   "invalid value",
		"--targets t --out o --interval 49ms": "give 50ms or more",
		"--targets t --out o --slow-interval 10ms": "give 1s or more",
		"--targets t --out o --interval 2s":        "shorter than --interval",
	} {
		_, err := parse(strings.Fields(arguments), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", arguments, err)
		}
	}
}

func TestHelpShowsExamplesThatParse(t *testing.T) {
	var help strings.Builder
	if _, err := parse([]string{"--help"}, &help); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error is %v", err)
	}
	examples := 0
	for _, line := range strings.Split(help.String(), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "observer" {
			continue
		}
		examples++
		if _, err := parse(words[1:], io.Discard); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if examples == 0 {
		t.Error("help has no examples")
	}
}

func TestDefaults(t *testing.T) {
	config, err := parse([]string{"--targets", "t", "--out", "o"}, io.Discard)
	if err != nil || config.Interval != time.Second || config.SlowInterval != time.Second ||
		config.CgroupRoot != "/host/cgroup" || config.ProcRoot != "/proc" {
		t.Errorf("config is %+v, error %v", config, err)
	}
}

func TestOnlyAWrongTargetsFileIsTheCallersFault(t *testing.T) {
	folder := t.TempDir()
	targets := filepath.Join(folder, "targets.json")
	if err := os.WriteFile(targets, []byte(`{"format":"tollbooth.targets","version":7}`), 0o644); err != nil {
		t.Fatal(err)
	}
	host := []string{"--cgroup-root", "../internal/testdata/cgroup/v2-systemd", "--proc-root", "../internal/testdata/proc"}
	for _, c := range []struct {
		targets, out string
		callers      bool
		message      string
	}{
		{targets, filepath.Join(folder, "counters.jsonl"), true, targets + ": has format"},
		{filepath.Join(folder, "later.json"), "/dev/full", false, "no space left on device"},
		{targets, filepath.Join(folder, "missing/counters.jsonl"), false, "no such file or directory"},
	} {
		config, err := parse(append(host, "--targets", c.targets, "--out", c.out), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		err = run(context.Background(), config)
		if err == nil || errors.As(err, new(command.UsageError)) != c.callers ||
			!strings.Contains(err.Error(), c.message) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s, %s: error is %v", c.targets, c.out, err)
		}
	}
}
