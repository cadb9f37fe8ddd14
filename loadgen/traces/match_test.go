package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTracesAreMatchedWithWhatCameBack(t *testing.T) {
	const intended, sendEnd, timeout, late = 1_000_000, 100, 1000, 10_000
	id, other := traceID{1}, traceID{2}
	came := func(spans int, ns int64) arrival { return arrival{part{id, spans}, intended + ns} }
	for name, c := range map[string]struct {
		outcome  outcome
		came     arrivals
		ended    int64
		want     outcome
		received int
		last     int64
	}{
		"all at once":             {accepted, arrivals{came(5, 300)}, late, success, 5, 300},
		"in two parts":            {accepted, arrivals{came(3, 400), came(2, 300)}, late, success, 5, 400},
		"before the answer":       {accepted, arrivals{came(5, 50)}, late, success, 5, 50},
		"just in time":            {accepted, arrivals{came(5, 1100)}, late, success, 5, 1100},
		"too late":                {accepted, arrivals{came(5, 1101)}, late, receiveTimeout, 5, 1101},
		"a part too late":         {accepted, arrivals{came(4, 300), came(1, 2000)}, late, receiveTimeout, 5, 2000},
		"a part":                  {accepted, arrivals{came(4, 300)}, late, receiveTimeout, 4, 300},
		"never":                   {accepted, nil, late, receiveTimeout, 0, never},
		"the load ended":          {accepted, arrivals{came(4, 300)}, 1099, shutdown, 4, 300},
		"the wait and load ended": {accepted, arrivals{came(4, 300)}, 1100, receiveTimeout, 4, 300},
		"back before the end":     {accepted, arrivals{came(5, 300)}, 400, success, 5, 300},
		"another trace":           {accepted, arrivals{{part{other, 5}, intended + 300}}, late, receiveTimeout, 0, never},
		"twice":                   {accepted, arrivals{came(5, 300), came(5, 5000)}, late, success, 10, 300},
		"rejected and yet back":   {sendError, arrivals{came(5, 300)}, late, sendError, 5, 300},
		"not answered":            {sendTimeout, nil, late, sendTimeout, 0, never},
		"empty, as all empty are": {empty, arrivals{{part{traceID{}, 5}, intended + 300}}, late, empty, 0, never},
	} {
		all := append(arrivals{{part{traceID{9}, 1}, 7}, {part{traceID{}, 1}, 7}}, c.came...)
		all.sort()
		r := record{id: id, outcome: c.outcome, spans: 5, spansSent: 5, intended: intended, sendEnd: sendEnd, receiveEnd: never, receiveStart: never}
		all.match(&r, timeout, intended+c.ended)
		if r.outcome != c.want || r.spansReceived != c.received || r.receiveEnd != c.last {
			t.Errorf("%s: %s, %d spans, the last after %d", name, r.outcome, r.spansReceived, r.receiveEnd)
		}
	}
}

func TestTwoLogsMakeOne(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	back, lost := someRecord(), someRecord()
	lost.id = traceID{7}
	sent, came := recordHeader, arrivalHeader
	for _, r := range []record{back, lost} {
		r.outcome, r.spansReceived, r.receiveStart, r.receiveEnd = accepted, 0, never, never
		sent += string(r.append(nil))
	}
	came += string(arrival{part{back.id, back.spansSent}, back.intended + back.receiveEnd}.append(nil))
	write(t, path("sent-0.csv"), sent)
	write(t, path("arrivals-0.csv"), came)
	to, err := newRecorder(path("traces-0.csv"), recordHeader, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	if err := matchFiles(path("sent-0.csv"), path("arrivals-0.csv"), 1e9, math.MaxInt64, to); err != nil {
		t.Fatal(err)
	}
	if err := to.finish(); err != nil {
		t.Fatal(err)
	}
	back.receiveStart, lost.outcome = back.sendEnd, receiveTimeout
	lost.receiveStart, lost.receiveEnd, lost.spansReceived = lost.sendEnd, never, 0
	want := recordHeader + string(back.append(nil)) + string(lost.append(nil))
	if found := read(t, path("traces-0.csv")); found != want {
		t.Errorf("wrote\n%s\nwant\n%s", found, want)
	}
}

func TestABrokenLogIsNamedWithItsLine(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "came"), arrivalHeader)
	write(t, filepath.Join(folder, "sent"), recordHeader+"x\n")
	err := matchFiles(filepath.Join(folder, "sent"), filepath.Join(folder, "came"), 1, 1, nil)
	if err == nil || !strings.HasSuffix(err.Error(), "sent: line 3 has 1 fields, not 22") {
		t.Errorf("said %v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
