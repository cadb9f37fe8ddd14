package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// someRecord has a value in every field.
func someRecord() record {
	return record{
		id: traceID{0x4b, 0xf9, 15: 0x36}, worker: 17, number: 3, outcome: success, spans: 7, spansSent: 6, spansReceived: 6,
		spanDurationMs: 113, attributes: 4, attributeBytes: 16, clients: 2, risky: true, waited: 791_000_000,
		intended: 1760000000000000000, loop: 12_000, sendStart: 791_100_000, sendEnd: 793_000_000, receiveStart: 793_000_500,
		receiveEnd: 795_000_000, logged: 795_010_000,
	}
}

func TestRecordsAreThoseThatTheAnalysisReads(t *testing.T) {
	drawnEmpty := recordOf(5, 9, 1760000000100000000, &trace{clients: 1, risky: none, failed: none, missing: none})
	drawnEmpty.outcome, drawnEmpty.logged = empty, 700
	sent := someRecord()
	came := arrival{part{traceID{1, 15: 2}, 7}, 1760000000000000000}
	for file, found := range map[string]string{
		"traces.v1.csv":   recordHeader + string(sent.append(nil)) + string(drawnEmpty.append(nil)),
		"arrivals.v1.csv": arrivalHeader + string(came.append(nil)),
	} {
		if want := read(t, "../../fixtures/"+file); found != want {
			t.Errorf("%s: wrote\n%s\nwant\n%s", file, found, want)
		}
	}
	if fields := strings.Count(recordHeader, ",") + 1; fields != recordFields {
		t.Errorf("the header names %d fields", fields)
	}
}

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	failed := someRecord()
	failed.outcome, failed.code, failed.receiveStart, failed.receiveEnd, failed.failed = sendError, codeRejected, never, never, true
	for _, want := range []record{someRecord(), failed} {
		line := strings.TrimSuffix(string(want.append(nil)), "\n")
		if found, err := parseRecord([]byte(line)); err != nil || found != want {
			t.Errorf("%+v (%v), want %+v", found, err, want)
		}
	}
}

func TestNoRecordIsLongerThanItsBound(t *testing.T) {
	const longest = int64(maxDurationS*time.Second + 2*maxTimeoutMs*time.Millisecond)
	r := record{
		worker: maxWorkers, number: maxTracesPerS * maxDurationS, outcome: receiveTimeout, code: 16, spans: maxSpans,
		spansSent: maxSpans, spansReceived: 10 * maxSpans, spanDurationMs: maxSpanDurationMs, attributes: maxAttributes,
		attributeBytes: maxAttributeBytes, clients: maxClients, waited: longest, intended: math.MaxInt64, loop: longest,
		sendStart: longest, sendEnd: longest, receiveStart: longest, receiveEnd: longest, logged: longest,
	}
	if length := len(r.append(nil)); length > maxRecordBytes {
		t.Errorf("%d bytes", length)
	}
}

func TestALineThatIsNoRecordIsAnError(t *testing.T) {
	good := strings.TrimSuffix(string((&record{}).append(nil)), "\n")
	for name, line := range map[string]string{
		"nothing":            "",
		"a field too few":    good[:strings.LastIndexByte(good, ',')],
		"a field too many":   good + ",1",
		"a short trace ID":   good[2:],
		"a long trace ID":    "00" + good,
		"an unknown outcome": strings.Replace(good, "success", "succes", 1),
		"no number":          strings.Replace(good, ",0,", ",x,", 1),
	} {
		if r, err := parseRecord([]byte(line)); err == nil {
			t.Errorf("%s: read as %+v", name, r)
		}
	}
}

func TestAnArrivalIsReadAsItWasWritten(t *testing.T) {
	want := arrival{part{traceID{1, 15: 2}, 7}, 1760000000000000000}
	line := string(want.append(nil))
	if found, err := parseArrival([]byte(line[:len(line)-1])); err != nil || found != want {
		t.Errorf("%+v (%v)", found, err)
	}
	if _, err := parseArrival([]byte("01,7")); err == nil {
		t.Error("two fields are accepted")
	}
}

func TestAFileOfAnotherVersionIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traces-0.csv")
	if err := os.WriteFile(path, []byte(strings.Replace(recordHeader, "v1", "v2", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	err := readLines(path, recordHeader, func([]byte) error { return nil })
	if err == nil || !strings.Contains(err.Error(), `line 1 is "# tollbooth.traces v2", not "# tollbooth.traces v1"`) {
		t.Errorf("said %v", err)
	}
}
