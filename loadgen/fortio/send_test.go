package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	common "tollbooth/internal/load"
	"tollbooth/internal/requests"
)

// server answers by the handler, at host:port.
func server(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// of is a load of so many requests.
func of(requests, concurrency int, routes ...string) load {
	return load{Common: common.New(requests), Concurrency: concurrency, Routes: routes}
}

func sent(t *testing.T, target string, l load) []requests.Row {
	t.Helper()
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	rows, err := send(l, target)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestEachRequestIsRecorded(t *testing.T) {
	const delay = 5 * time.Millisecond
	target := server(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(delay)
		if r.URL.Path == "/a2" {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = w.Write(make([]byte, 41))
	})
	began := time.Now().UnixNano()
	rows := sent(t, target, of(40, 4, "a1", "a2"))
	ended := time.Now().UnixNano()
	if len(rows) != 40 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		want := requests.Row{Target: "a1", Status: 200, Bytes: 41}
		if row.User%2 == 1 {
			want = requests.Row{Target: "a2", Status: 502}
		}
		if row.Target != want.Target || row.Status != want.Status || row.Bytes != want.Bytes {
			t.Errorf("%+v, want %+v", row, want)
		}
		if row.Intended != row.Start || row.Start < began || row.End-row.Start < delay.Nanoseconds() || row.End > ended {
			t.Errorf("%+v in a run from %d to %d", row, began, ended)
		}
	}
}

func TestAConnectionIsKeptAndSendsOneRequestAtATime(t *testing.T) {
	const concurrency = 3
	var open, most, connections atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if now := open.Add(1); now > most.Load() {
			most.Store(now)
		}
		time.Sleep(2 * time.Millisecond)
		open.Add(-1)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	sent(t, strings.TrimPrefix(s.URL, "http://"), of(60, concurrency, "a1"))
	// One more has checked that the target accepts connections.
	if most.Load() != concurrency || connections.Load() != concurrency+1 {
		t.Errorf("%d requests were open at once on %d connections", most.Load(), connections.Load())
	}
}

func TestALoadEndsByTheClockWithEveryAnswer(t *testing.T) {
	target := server(t, func(http.ResponseWriter, *http.Request) { time.Sleep(5 * time.Millisecond) })
	l := of(1, 3, "a1")
	l.Requests, l.DurationS = nil, new(float64)
	*l.DurationS = 0.3
	began := time.Now()
	rows := sent(t, target, l)
	if took := time.Since(began); took < 300*time.Millisecond || took > 5*time.Second || len(rows) < 4 {
		t.Errorf("%d requests in %v", len(rows), took)
	}
	for _, row := range rows {
		if row.Status != http.StatusOK {
			t.Errorf("%+v has no answer", row)
		}
	}
}

func TestARequestWithoutAnAnswerEndsTheLoad(t *testing.T) {
	var received atomic.Int32
	target := server(t, func(http.ResponseWriter, *http.Request) {
		if received.Add(1) > 20 {
			panic(http.ErrAbortHandler)
		}
	})
	rows := sent(t, target, of(100_000, 2, "a1"))
	failed := 0
	for _, row := range rows {
		if row.Status == 0 && row.Bytes == 0 {
			failed++
		}
	}
	// Each connection may have failed once before it knew of the other.
	if failed < 1 || failed > 2 || len(rows) < 20 || len(rows) > 30 {
		t.Errorf("%d of %d requests failed", failed, len(rows))
	}
}

func TestATargetThatIsNotThereIsNamedInOneLine(t *testing.T) {
	s := httptest.NewServer(nil)
	target := strings.TrimPrefix(s.URL, "http://")
	s.Close()
	if _, err := send(of(10, 1, "a1"), target); err == nil || !strings.Contains(err.Error(), "cannot reach "+target) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("error is %v", err)
	}
}

func TestEachLoadLeavesItsRequests(t *testing.T) {
	target, folder := server(t, func(http.ResponseWriter, *http.Request) {}), t.TempDir()
	for name, text := range map[string]string{
		"load-0.json": complete,
		"load-1.json": strings.Replace(complete, "100", "8", 1),
		"load-2.json": `{"format":"tollbooth.load","version":1,"requests":0}`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(folder, target); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"requests-0.csv": 100, "requests-1.csv": 8} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if lines := strings.Count(string(text), "\n"); err != nil || lines != want+2 {
			t.Errorf("%s has %d lines (%v)", name, lines, err)
		}
	}
	if err := run(folder, "nowhere"); err == nil || !strings.Contains(err.Error(), "TARGET: must be host:port") {
		t.Errorf("error is %v", err)
	}
}
