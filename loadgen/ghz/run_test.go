package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	common "tollbooth/internal/load"
	"tollbooth/internal/requests"
)

func pointer[T any](value T) *T { return &value }

// to is a load of so many requests to a server.
func to(s *server, count int) load {
	return load{Common: common.New(count), Target: s.address, Operation: "work", FirstCounter: 1}
}

// sendAll sends a load and returns its rows.
func sendAll(t *testing.T, l load) []requests.Row {
	t.Helper()
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	rows, err := send(l, proto)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestEachRequestIsSentOnceWithItsOwnCounter(t *testing.T) {
	s := serve(t, func(uint32) error { return nil })
	l := to(s, 500)
	l.Concurrency, l.FirstCounter, l.ErrorProbability = pointer(7), 20_001, pointer[float32](0.2)
	sendAll(t, l)
	var counters []uint32
	for _, request := range s.received {
		counters = append(counters, field[uint32](request, "request_counter"))
		if field[float32](request, "error_probability") != 0.2 {
			t.Fatalf("received %v", request)
		}
	}
	slices.Sort(counters)
	for i, counter := range counters {
		if counter != uint32(20_001+i) {
			t.Fatalf("request %d has counter %d", i, counter)
		}
	}
	if len(counters) != 500 {
		t.Errorf("%d requests arrived, want 500", len(counters))
	}
}

func TestWhatIsNullIsNotSent(t *testing.T) {
	s := serve(t, func(uint32) error { return nil })
	l := to(s, 1)
	l.Concurrency = pointer(1)
	sendAll(t, l)
	if s.received[0].HasFieldName("error_probability") {
		t.Errorf("sent: %v", s.received[0])
	}
}

func TestAnswersAndErrorsAreCountedAndTimed(t *testing.T) {
	const delay = 20 * time.Millisecond
	s := serve(t, func(counter uint32) error {
		time.Sleep(delay)
		if counter%5 == 0 {
			return status.Error(codes.Internal, "drawn")
		}
		return nil
	})
	l := to(s, 100)
	l.Concurrency = pointer(10)
	began := time.Now().UnixNano()
	rows := sendAll(t, l)
	ended := time.Now().UnixNano()
	byStatus := map[int]int{}
	for _, row := range rows {
		byStatus[row.Status]++
		if row.Intended != row.Start || row.End-row.Start < delay.Nanoseconds() || row.Start < began || row.End > ended {
			t.Errorf("row %+v in a run from %d to %d", row, began, ended)
		}
	}
	if byStatus[200] != 80 || byStatus[613] != 20 || len(rows) != 100 {
		t.Errorf("statuses %v", byStatus)
	}
	if s.atOnce > 10 {
		t.Errorf("%d requests were open at once, with a concurrency of 10", s.atOnce)
	}
}

func TestAnOpenLoopKeepsItsScheduleWhateverItsAnswersTake(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(counter uint32) error {
		if counter < 50 {
			<-release // no request before the last has an answer when that one is sent
		} else {
			close(release)
		}
		return nil
	})
	l := to(s, 50)
	l.RequestsPerS = pointer(200.0)
	rows := sendAll(t, l)
	if s.atOnce != 50 {
		t.Errorf("%d of 50 requests were open at once", s.atOnce)
	}
	slices.SortFunc(rows, func(a, b requests.Row) int { return int(a.Intended - b.Intended) })
	for i, row := range rows {
		if want := rows[0].Intended + int64(i)*5e6; row.Intended != want || row.Start < row.Intended {
			t.Errorf("request %d: intended %d, want %d; started %d", i, row.Intended, want, row.Start)
		}
	}
}

func TestABoundedOpenLoopFallsBehindAndSaysSo(t *testing.T) {
	const delay = 30 * time.Millisecond
	s := serve(t, func(uint32) error { time.Sleep(delay); return nil })
	l := to(s, 20)
	l.RequestsPerS, l.Concurrency = pointer(100.0), pointer(1)
	rows := sendAll(t, l)
	for i, row := range rows {
		// Each waited for those before it, and was due 10 ms after the last one.
		if late := row.Start - row.Intended; late < int64(i)*(delay-10*time.Millisecond).Nanoseconds() {
			t.Errorf("request %d started %v late", i, time.Duration(late))
		}
	}
}

func TestAServerThatGoesAwayLeavesFailedRequests(t *testing.T) {
	var s *server
	s = serve(t, func(counter uint32) error {
		if counter == 50 {
			go s.stop()
		}
		return nil
	})
	l := to(s, 200)
	l.Concurrency = pointer(4)
	rows := sendAll(t, l)
	failed := 0
	for _, row := range rows {
		if row.Status == 614 {
			failed++
		}
	}
	// gRPC may try a request again that a closing connection did not take: then it has two rows.
	if len(rows) < 200 || failed < 100 {
		t.Errorf("%d of %d rows say that nobody was there", failed, len(rows))
	}
}

func TestAWarmUpEndsByTheClockWithEveryAnswer(t *testing.T) {
	s := serve(t, func(uint32) error { time.Sleep(5 * time.Millisecond); return nil })
	l := to(s, 1)
	l.Requests, l.DurationS, l.Concurrency = nil, pointer(0.3), pointer(3)
	began := time.Now()
	rows := sendAll(t, l)
	if taken := time.Since(began); taken < 300*time.Millisecond || len(rows) <= 3 {
		t.Errorf("made %d requests in %v", len(rows), taken)
	}
	for _, row := range rows {
		if row.Status != 200 {
			t.Errorf("%+v has no answer", row)
		}
	}
}

// sitting is a folder with these loads.
func sitting(t *testing.T, loads ...load) string {
	t.Helper()
	folder := t.TempDir()
	for number, l := range loads {
		text, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(folder, fmt.Sprintf("load-%d.json", number))
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestEachLoadLeavesItsRequests(t *testing.T) {
	s := serve(t, func(uint32) error { return nil })
	first, second, end := to(s, 20), to(s, 30), to(s, 0)
	first.Concurrency, second.Concurrency, first.Operation = pointer(2), pointer(2), ""
	folder := sitting(t, first, second, end)
	if err := run(folder, proto); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		row   string
		count int
	}{"requests-0.csv": {"\n0,Mock,", 20}, "requests-1.csv": {"\n0,work,", 30}} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || strings.Count(string(text), want.row) != want.count {
			t.Errorf("%s: %q (%v)", name, text, err)
		}
	}
}

func TestATargetThatIsNotThereIsNamedInOneLine(t *testing.T) {
	s := serve(t, func(uint32) error { return nil })
	s.stop()
	l := to(s, 20)
	l.Concurrency = pointer(2)
	folder := sitting(t, l)
	err := run(folder, proto)
	if err == nil || !strings.Contains(err.Error(), "cannot reach "+s.address) || strings.Contains(err.Error(), "\n") {
		t.Errorf("said %v", err)
	}
	if _, err := os.Stat(filepath.Join(folder, "requests-0.csv")); !os.IsNotExist(err) {
		t.Errorf("left requests behind: %v", err)
	}
}
