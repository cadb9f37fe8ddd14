package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The tests run themselves as the observer to see its exit code and what it prints.
const runAsObserver = "TOLLBOOTH_TEST_RUN_AS_OBSERVER"

func TestMain(m *testing.M) {
	if os.Getenv(runAsObserver) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// run returns the observer's exit code and what it printed on each stream.
func run(t *testing.T, arguments ...string) (code int, out, err string) {
	t.Helper()
	command := exec.Command(os.Args[0], arguments...)
	command.Env = append(os.Environ(), runAsObserver+"=1")
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

func TestWrongOptionsAreOneLine(t *testing.T) {
	for arguments, want := range map[string]string{
		"":                                         "--targets is missing",
		"--targets t":                              "--out is missing",
		"--targets t --out o surplus":              `unexpected argument "surplus"`,
		"--targets t --out o --rate 10":            "not defined: -rate",
		"--targets t --out o --interval 10":        "invalid value",
		"--targets t --out o --interval 49ms":      "give 50ms or more",
		"--targets t --out o --slow-interval 10ms": "give 1s or more",
		"--targets t --out o --interval 2s":        "shorter than --interval",
	} {
		code, _, err := run(t, strings.Fields(arguments)...)
		if code != exitUsage || !strings.Contains(err, want) || strings.Count(err, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q", arguments, code, err)
		}
	}
}

func TestHelpShowsExamplesThatParse(t *testing.T) {
	code, out, err := run(t, "--help")
	if code != 0 || err != "" {
		t.Errorf("exit code %d, %q", code, err)
	}
	examples := 0
	for _, line := range strings.Split(out, "\n") {
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
	if _, err := parse([]string{"-h"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error is %v", err)
	}
}

func TestExitCodes(t *testing.T) {
	folder := t.TempDir()
	targets := filepath.Join(folder, "targets.json")
	if err := os.WriteFile(targets, []byte(`{"format":"tollbooth.targets","version":7}`), 0o644); err != nil {
		t.Fatal(err)
	}
	host := []string{"--cgroup-root", "../internal/testdata/cgroup/v2-systemd", "--proc-root", "../internal/testdata/proc"}
	for _, c := range []struct {
		targets, out string
		code         int
		message      string
	}{
		{targets, filepath.Join(folder, "counters.jsonl"), exitUsage, targets + ": has format"},
		{filepath.Join(folder, "later.json"), "/dev/full", exitFailed, "no space left on device"},
		{targets, filepath.Join(folder, "missing/counters.jsonl"), exitFailed, "no such file or directory"},
	} {
		code, _, err := run(t, append(host, "--targets", c.targets, "--out", c.out)...)
		if code != c.code || !strings.Contains(err, c.message) || strings.Count(err, "\n") != 1 {
			t.Errorf("%s, %s: exit code %d, %q", c.targets, c.out, code, err)
		}
	}
}
