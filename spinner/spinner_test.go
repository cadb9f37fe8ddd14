package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const testRing = 64 << 10

func TestARingIsOneCycleThroughAllEntries(t *testing.T) {
	for _, entries := range []int{1, 2, 3, 1000} {
		ring := newRing(entries, 7)
		seen := make([]bool, entries)
		at := 0
		for range entries {
			if seen[at] {
				t.Fatalf("of %d entries, %d comes twice", entries, at)
			}
			seen[at] = true
			at = ring[at]
		}
		if at != 0 {
			t.Errorf("of %d entries, the last leads to %d", entries, at)
		}
	}
}

func TestAWalkOnceAroundEndsWhereItBegan(t *testing.T) {
	ring := newRing(100, 1)
	if at := walk(ring, 42); at != 42 {
		t.Errorf("it ends at %d", at)
	}
}

func TestTheRingIsHalfOfACPUsShareOfTheSecondLevelCache(t *testing.T) {
	const notThere = ""
	for _, c := range []struct {
		size, users string
		cpus, want  int
	}{
		{notThere, notThere, 2, usualRingBytes},
		{"512K\n", notThere, 2, 256 << 10},
		{"1024K\n", "0\n", 2, 512 << 10},
		{"2048K\n", "0-1\n", 4, 512 << 10},
		{"4096K\n", "0-3\n", 8, 512 << 10},
		{"4096K\n", "0-1,64-65\n", 8, 512 << 10},
		{"2048K\n", "all\n", 2, 1 << 20},
		{"2048K\n", "0\n", 32, 1 << 20},
		{"2048K\n", "0\n", 256, 128 << 10},
		{"much", "0\n", 2, usualRingBytes},
		{"0K", "0\n", 2, usualRingBytes},
	} {
		root := t.TempDir() + "/"
		for name, text := range map[string]string{cacheSizeFile: c.size, cacheUsersFile: c.users} {
			if text != notThere {
				writeFile(t, root+name, text)
			}
		}
		if found := ringBytes(root, c.cpus); found != c.want {
			t.Errorf("%q, shared by %q, %d CPUs: %d bytes, not %d", c.size, c.users, c.cpus, found, c.want)
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheRecordCountsUpFromAHeader(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer stop()
	var out bytes.Buffer
	if err := run(ctx, &out, 50*time.Millisecond, testRing); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(&out)
	lines.Scan()
	var first header
	if err := json.Unmarshal(lines.Bytes(), &first); err != nil {
		t.Fatal(err)
	}
	if first.Format != "tollbooth.speed" || first.Version != 1 || first.IntervalNs != 50_000_000 || first.RingBytes != testRing {
		t.Errorf("the header is %+v", first)
	}
	last := map[int]sample{}
	for lines.Scan() {
		var found sample
		if err := json.Unmarshal(lines.Bytes(), &found); err != nil {
			t.Fatal(err)
		}
		before, again := last[found.Thread]
		if again && (found.TNs <= before.TNs || found.Steps < before.Steps || found.StepsNs < before.StepsNs) {
			t.Errorf("thread %d went back from %+v to %+v", found.Thread, before, found)
		}
		last[found.Thread] = found
	}
	for thread, found := range last {
		if found.Walks == 0 || found.Steps != found.Walks*testRing/entryBytes || found.StepsNs < found.Steps/10 {
			t.Errorf("thread %d counted %+v", thread, found)
		}
	}
}

func TestAStoppedSpinnerWritesWhatItCountedSinceItsLastRecord(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	var out bytes.Buffer
	if err := run(ctx, &out, time.Hour, testRing); err != nil {
		t.Fatal(err)
	}
	if found := strings.Count(out.String(), `"thread":`); found != 2*runtime.NumCPU() {
		t.Errorf("%d records of %d threads", found, runtime.NumCPU())
	}
}

func TestTheRecordIsTheOneThatTheAnalysisReads(t *testing.T) {
	text, err := os.ReadFile("../fixtures/speed.v1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(bytes.NewReader(text))
	lines.DisallowUnknownFields()
	var again bytes.Buffer
	out := json.NewEncoder(&again)
	var first header
	if err := lines.Decode(&first); err != nil {
		t.Fatal(err)
	}
	if err := out.Encode(first); err != nil {
		t.Fatal(err)
	}
	for lines.More() {
		var found sample
		if err := lines.Decode(&found); err != nil {
			t.Fatal(err)
		}
		if err := out.Encode(found); err != nil {
			t.Fatal(err)
		}
	}
	if again.String() != string(text) {
		t.Errorf("read and written again it is\n%s", &again)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAFullDiskEndsItWithOneError(t *testing.T) {
	err := run(context.Background(), full{}, time.Hour, testRing)
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("it ended with %v", err)
	}
}

func TestOptions(t *testing.T) {
	for arguments, says := range map[string]string{
		"":                         "--out is missing",
		"--out f --interval 1ms":   "give 10ms or more",
		"--out f --intervall 1s":   "flag provided but not defined",
		"--out f --interval often": "invalid value",
	} {
		var help bytes.Buffer
		_, err := parse(strings.Fields(arguments), &help)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") || help.Len() > 0 {
			t.Errorf("%q: %v, printed %q", arguments, err, &help)
		}
	}
	found, err := parse([]string{"--out", "f"}, &bytes.Buffer{})
	if err != nil || found != (options{"f", time.Second}) {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestHelpShowsUsageAndOptions(t *testing.T) {
	var help bytes.Buffer
	if _, err := parse([]string{"--help"}, &help); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error is %v", err)
	}
	if !strings.HasPrefix(help.String(), usage) || !strings.Contains(help.String(), "-interval") {
		t.Errorf("the help is\n%s", &help)
	}
}
