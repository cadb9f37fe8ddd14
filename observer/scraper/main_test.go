package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"tollbooth/internal/scrape"
)

func TestWrongOptionsAreOneLine(t *testing.T) {
	for arguments, want := range map[string]string{
		"":                        "--collectors is missing",
		"--collectors a=http://a": "--out is missing",
		"--collectors a=http://a --out o --interval 999ms": "give 1s or more",
		"--collectors a --out o":                           `--collectors "a": "" is not an address`,
	} {
		_, err := parse(strings.Fields(arguments), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", arguments, err)
		}
	}
}

func TestOptions(t *testing.T) {
	want := scrape.Config{
		Endpoints: []scrape.Endpoint{{Name: "a", URL: "http://a:1/metrics"}, {Name: "b", URL: "http://b:2/metrics"}},
		OutPath:   "o", Interval: time.Second, Timeout: 2 * time.Second,
	}
	got, err := parse([]string{"--collectors", "a=http://a:1/metrics,b=http://b:2/metrics", "--out", "o"}, io.Discard)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("config is %+v, error %v", got, err)
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
		if len(words) == 0 || words[0] != "scraper" {
			continue
		}
		examples++
		if _, err := parse(words[1:], io.Discard); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if examples != 2 || !strings.Contains(help.String(), "-interval") {
		t.Errorf("the help is\n%s", help.String())
	}
}
