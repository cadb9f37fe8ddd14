package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func TestWrongOptionsAreOneLine(t *testing.T) {
	for arguments, want := range map[string]string{
		"--behaviour slwo":                    `there is no behaviour "slwo"; give one of accept, slow, limited, refuse`,
		"--delay 10":                          "invalid value",
		"--behaviour slow --delay 0s":         "a delay of 0s is not possible",
		"--behaviour slow --delay 1h":         "at most 10m0s",
		"--behaviour accept":                  "",
		"--behaviour limited --spans-per-s 0": "0 spans per second are not possible",
	} {
		_, err := parse(strings.Fields(arguments), io.Discard)
		if want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error is %v", arguments, err)
		}
	}
}

func TestDefaults(t *testing.T) {
	if got, err := parse(nil, io.Discard); err != nil || got != (options{initial: behaviour{name: accept, delay: 10 * time.Second, spansPerS: 10_000}}) {
		t.Errorf("%+v, error %v", got, err)
	}
}

func TestHelpShowsExamplesThatParse(t *testing.T) {
	var help strings.Builder
	if _, err := parse([]string{"--help"}, &help); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error is %v", err)
	}
	examples := 0
	for _, line := range strings.Split(help.String(), "\n") {
		if words := strings.Fields(line); len(words) > 0 && words[0] == "sink" {
			examples++
			if _, err := parse(words[1:], io.Discard); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if examples == 0 {
		t.Error("help has no examples")
	}
}

func TestAPortThatIsTakenEndsTheSink(t *testing.T) {
	taken := errors.New("taken")
	err := run(context.Background(), newSink(behaviour{name: accept}), func(int) (net.Listener, error) { return nil, taken })
	if !errors.Is(err, taken) {
		t.Errorf("error is %v", err)
	}
}
