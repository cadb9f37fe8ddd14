package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tollbooth/internal/clock"
	common "tollbooth/internal/load"
	"tollbooth/internal/requests"
)

// at is a load of so many requests at a fixed rate.
func at(perS float64, count int) load {
	l := load{Common: common.New(count), Arrivals: "fixed", Routes: []string{"a1"}}
	l.RequestsPerS = &perS
	return l
}

// server answers by the handler, at host:port.
func server(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// sent sends a load to the target and returns its rows in the order of the schedule, with what was said meanwhile.
func sent(t *testing.T, target string, l load) (rows []requests.Row, said string) {
	t.Helper()
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	rows, err := sender{target, time.Second, maxInFlight, func(line string) { said += line }}.send(l)
	if err != nil {
		t.Fatal(err)
	}
	return rows, said
}

func TestAnswersAreRecorded(t *testing.T) {
	const delay = 20 * time.Millisecond
	var received sync.Map
	target := server(t, func(w http.ResponseWriter, r *http.Request) {
		received.Store(r.Method+" "+r.URL.Path+" "+r.Header.Get("tollbooth-error-probability")+" "+r.Host, true)
		time.Sleep(delay)
		if r.URL.Path == "/a2" {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = w.Write(make([]byte, 41))
	})
	l := at(500, 100)
	l.Routes, l.ErrorProbability = []string{"a1", "a2"}, new(float64)
	*l.ErrorProbability = 0.2
	began := time.Now().UnixNano()
	rows, said := sent(t, target, l)
	ended := time.Now().UnixNano()
	for i, row := range rows {
		want := requests.Row{Target: "a1", Status: 200, Bytes: 41}
		if row.Target == "a2" {
			want = requests.Row{Target: "a2", Status: 502}
		}
		if row.Status != want.Status || row.Bytes != want.Bytes || row.User != 0 {
			t.Errorf("request %d: %+v, want %+v", i, row, want)
		}
		if row.Intended < began || row.Start < row.Intended || row.End-row.Start < delay.Nanoseconds() || row.End > ended {
			t.Errorf("request %d has the times %+v in a run from %d to %d", i, row, began, ended)
		}
		if due := rows[0].Intended + int64(i)*2e6; row.Intended != due {
			t.Errorf("request %d is intended at %d, want %d", i, row.Intended, due)
		}
	}
	for _, route := range l.Routes {
		if _, found := received.Load("GET /" + route + " 0.2 " + target); !found {
			t.Errorf("%s did not arrive as it should", route)
		}
	}
	if len(rows) != 100 || said != "" {
		t.Errorf("%d rows, said %q", len(rows), said)
	}
}

func TestEachRequestBeginsATraceOfItsOwnIfItShould(t *testing.T) {
	var lock sync.Mutex
	seen := map[string]bool{}
	target := server(t, func(_ http.ResponseWriter, r *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		seen[r.Header.Get("traceparent")] = true
	})
	l := at(1000, 50)
	sent(t, target, l)
	if len(seen) != 1 || !seen[""] {
		t.Errorf("sent %v", seen)
	}
	clear(seen)
	l.TraceFlags = new(string)
	*l.TraceFlags = "01"
	sent(t, target, l)
	form := regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`)
	for traceparent := range seen {
		if !form.MatchString(traceparent) {
			t.Errorf("sent %q", traceparent)
		}
	}
	if len(seen) != 50 {
		t.Errorf("50 requests have %d traceparents", len(seen))
	}
}

func TestASlowServerDoesNotSlowTheSchedule(t *testing.T) {
	const count = 50
	var arrived atomic.Int32
	all := make(chan struct{})
	// No request has an answer before the last one has arrived.
	target := server(t, func(http.ResponseWriter, *http.Request) {
		if arrived.Add(1) == count {
			close(all)
		}
		<-all
	})
	rows, _ := sent(t, target, at(200, count))
	for i, row := range rows {
		if row.Status != 200 || row.Intended != rows[0].Intended+int64(i)*5e6 {
			t.Errorf("request %d: %+v", i, row)
		}
	}
}

func TestALateRequestKeepsItsIntendedStart(t *testing.T) {
	c := &client{clock: clock.New(), inFlight: 0}
	row := requests.Row{Intended: c.clock.Now() - time.Second.Nanoseconds()}
	intended := row.Intended
	c.clock.SleepUntil(row.Intended)
	c.send(&row)
	if late := row.Start - row.Intended; row.Intended != intended || late < time.Second.Nanoseconds() {
		t.Errorf("it started %v after its intended start: %+v", time.Duration(late), row)
	}
}

func TestAStallIsSeenByAllThatWereDueMeanwhile(t *testing.T) {
	const stall = 300 * time.Millisecond
	began := sync.OnceValue(time.Now)
	target := server(t, func(http.ResponseWriter, *http.Request) { time.Sleep(stall - time.Since(began())) })
	rows, _ := sent(t, target, at(200, 100))
	waited := 0
	for _, row := range rows {
		if row.End-row.Start > (stall / 3).Nanoseconds() {
			waited++
		}
	}
	// 40 requests were due in the first two thirds of the stall.
	if waited < 35 {
		t.Errorf("%d requests waited", waited)
	}
}

func TestTooManyInFlightAreRecordedAsFailed(t *testing.T) {
	release := make(chan struct{})
	var arrived atomic.Int32
	target := server(t, func(http.ResponseWriter, *http.Request) {
		arrived.Add(1)
		<-release
	})
	time.AfterFunc(100*time.Millisecond, func() { close(release) })
	said := ""
	rows, err := sender{target, time.Second, 5, func(line string) { said += line }}.send(at(1000, 20))
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if failed := row.Status == 0; failed != (i >= 5) || failed && (row.End != row.Start || row.Start < row.Intended) {
			t.Errorf("request %d: %+v", i, row)
		}
	}
	if arrived.Load() != 5 || said != "15 of 20 requests were not sent: 5 were under way" {
		t.Errorf("%d arrived, said %q", arrived.Load(), said)
	}
}

func TestARequestWithoutAnAnswerEndsInTime(t *testing.T) {
	release := make(chan struct{})
	target := server(t, func(http.ResponseWriter, *http.Request) { <-release })
	t.Cleanup(func() { close(release) })
	rows, _ := sent(t, target, at(100, 3))
	for i, row := range rows {
		if took := time.Duration(row.End - row.Start); row.Status != 0 || took < time.Second {
			t.Errorf("request %d ended after %v: %+v", i, took, row)
		}
	}
}

func TestABrokenAnswerIsAFailedRequest(t *testing.T) {
	for name, answer := range map[string]string{
		"no HTTP":   "what?\r\n\r\n",
		"cut off":   "HTTP/1.1 200 OK\r\nContent-Length: 41\r\n\r\nshort",
		"nothing":   "",
		"interim":   "HTTP/1.1 103 Early Hints\r\n\r\n",
		"no length": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
	} {
		target := listen(t, func(int) string { return answer })
		rows, _ := sent(t, target, at(100, 3))
		for _, row := range rows {
			if row.Status != 0 || row.Bytes != 0 {
				t.Errorf("%s: %+v", name, row)
			}
		}
	}
}

// listen answers the n-th request (from 0) of each connection with a text, and closes the connection at an unfinished one.
func listen(t *testing.T, answer func(number int) string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	serve := func(connection net.Conn) {
		defer connection.Close()
		reader := bufio.NewReader(connection)
		for number := 0; ; number++ {
			if _, err := http.ReadRequest(reader); err != nil {
				return
			}
			text := answer(number)
			fmt.Fprint(connection, text)
			if !strings.HasSuffix(text, "\r\n\r\nwhole") {
				return
			}
		}
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(connection)
		}
	}()
	return listener.Addr().String()
}

func TestAKeptConnectionThatWasClosedCostsNoRequest(t *testing.T) {
	const whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole"
	target := listen(t, func(number int) string { return []string{whole, whole, ""}[number] })
	rows, _ := sent(t, target, at(100, 20))
	for i, row := range rows {
		if row.Status != 200 || row.Bytes != 5 {
			t.Errorf("request %d: %+v", i, row)
		}
	}
}

func TestConnectionsAreKept(t *testing.T) {
	var opened atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	sent(t, strings.TrimPrefix(s.URL, "http://"), at(100, 50))
	// Some only where the machine is busy: a request then finds the one before it still under way.
	if got := opened.Load(); got > 25 {
		t.Errorf("opened %d connections for 50 requests", got)
	}
}

// arrivals records when requests arrive at a server.
type arrivals struct {
	mutex sync.Mutex
	ns    []int64
}

func (a *arrivals) ServeHTTP(http.ResponseWriter, *http.Request) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.ns = append(a.ns, time.Now().UnixNano())
}

func TestSlicesAreSentAtTheirTimesAndNothingBetween(t *testing.T) {
	const count, every, lasts = 5, 300 * time.Millisecond, 20 * time.Millisecond
	arrived := &arrivals{}
	target := server(t, arrived.ServeHTTP)
	l := at(200, count)
	for first := time.Now().Add(every); len(l.StartsNs) < 5; first = first.Add(every) {
		l.StartsNs = append(l.StartsNs, first.UnixNano())
	}
	rows, _ := sent(t, target, l)
	var late []int64
	for i, row := range rows {
		if want := l.StartsNs[i/count] + int64(i%count)*5e6; row.Intended != want || row.Start < want || row.Status != 200 {
			t.Errorf("request %d: %+v, want it at %d", i, row, want)
		}
		if i%count == 0 {
			late = append(late, row.Start-row.Intended)
		}
	}
	slices.Sort(late)
	// Other programs may delay some of the slices, not most of them.
	if median := time.Duration(late[len(late)/2]); median > 5*time.Millisecond {
		t.Errorf("half of the slices began more than %v late", median)
	}
	for slice, start := range l.StartsNs {
		for _, ns := range arrived.ns[slice*count : (slice+1)*count] {
			if after := time.Duration(ns - start); after < 0 || after > every-lasts {
				t.Errorf("slice %d: a request arrived %v after its start", slice, after)
			}
		}
	}
	if len(rows) != 25 || len(arrived.ns) != 25 {
		t.Errorf("%d rows, %d arrived", len(rows), len(arrived.ns))
	}
}

func TestConnectionsThatTheServerClosesBetweenSlicesCostNoRequest(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.IdleTimeout = 20 * time.Millisecond
	s.Start()
	t.Cleanup(s.Close)
	l := at(1000, 5)
	for first := time.Now().Add(100 * time.Millisecond); len(l.StartsNs) < 3; first = first.Add(100 * time.Millisecond) {
		l.StartsNs = append(l.StartsNs, first.UnixNano())
	}
	rows, _ := sent(t, strings.TrimPrefix(s.URL, "http://"), l)
	for i, row := range rows {
		if row.Status != 200 {
			t.Errorf("request %d: %+v", i, row)
		}
	}
}

func TestALateSliceIsNamedWithItsFile(t *testing.T) {
	target := server(t, func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") })
	l := at(1000, 20)
	l.StartsNs = []int64{time.Now().Add(-time.Minute).UnixNano()}
	err := run(folder(t, l), target)
	if err == nil || !strings.Contains(err.Error(), "load-0.json: starts_ns: the first slice's start was 60.") {
		t.Errorf("said %v", err)
	}
}

// closedLoop is a load of so many requests, some at the same time.
func closedLoop(concurrency, count int) load {
	return load{Common: common.New(count), Concurrency: &concurrency, Routes: []string{"a1", "a2"}}
}

func TestAClosedLoopKeepsItsConcurrency(t *testing.T) {
	const concurrency, count = 8, 200
	var arrived, underWay, most, opened atomic.Int32
	all := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		now := underWay.Add(1)
		defer underWay.Add(-1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		// The first ones have no answer before all of them have arrived.
		if arrived.Add(1) == concurrency {
			close(all)
		}
		<-all
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	rows, said := sent(t, strings.TrimPrefix(s.URL, "http://"), closedLoop(concurrency, count))
	if most.Load() != concurrency || arrived.Load() != count || len(rows) != count || said != "" {
		t.Errorf("%d arrived, at most %d at a time, %d rows, said %q", arrived.Load(), most.Load(), len(rows), said)
	}
	// One more finds out whether the target can be reached.
	if opened.Load() > concurrency+1 {
		t.Errorf("opened %d connections", opened.Load())
	}
	routes := map[string]int{}
	for i, row := range rows {
		routes[row.Target]++
		if row.Intended != row.Start || row.End <= row.Start || row.Status != 200 {
			t.Errorf("request %d: %+v", i, row)
		}
	}
	if routes["a1"] != count/2 || routes["a2"] != count/2 {
		t.Errorf("sent %v", routes)
	}
}

func TestAClosedLoopEndsAfterItsDuration(t *testing.T) {
	const lasts = 100 * time.Millisecond
	var arrived atomic.Int32
	target := server(t, func(http.ResponseWriter, *http.Request) { arrived.Add(1) })
	l := closedLoop(4, 0)
	l.Common = common.Ending(lasts.Seconds())
	rows, _ := sent(t, target, l)
	if len(rows) == 0 || len(rows) != int(arrived.Load()) {
		t.Fatalf("%d rows, %d arrived", len(rows), arrived.Load())
	}
	if last := time.Duration(rows[len(rows)-1].Start - rows[0].Start); last > lasts {
		t.Errorf("the last request started %v after the first", last)
	}
}

func TestAClosedLoopGoesOnAfterFailedRequests(t *testing.T) {
	target := listen(t, func(int) string { return "what?\r\n\r\n" })
	rows, _ := sent(t, target, closedLoop(3, 20))
	for i, row := range rows {
		if row.Status != 0 {
			t.Errorf("request %d: %+v", i, row)
		}
	}
	if len(rows) != 20 {
		t.Errorf("%d rows", len(rows))
	}
}

func TestAClosedLoopPausesWithoutATarget(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(connection)); err == nil {
				listener.Close() // this request is the only one that is answered
				fmt.Fprint(connection, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
			connection.Close()
		}
	}()
	l := closedLoop(3, 0)
	l.Common = common.Ending(0.5)
	rows, _ := sent(t, listener.Addr().String(), l)
	answered := 0
	for _, row := range rows {
		if row.Status == 200 {
			answered++
		}
	}
	if answered != 1 || len(rows) >= 50 {
		t.Errorf("%d rows, %d answered", len(rows), answered)
	}
}

func TestTheEndOfAClosedLoopEndsPauses(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	for name, ends := range map[string]common.Common{"time": common.Ending(0.1), "requests": common.New(3)} {
		l := closedLoop(3, 0)
		l.Common = ends
		c := newClient(listener.Addr().String(), sender{}.messages(l), time.Second, *l.Concurrency)
		c.pause = time.Hour
		ended := make(chan []requests.Row, 1)
		go func() { ended <- c.closedLoop(l) }()
		select {
		case rows := <-ended:
			if len(rows) != 3 {
				t.Errorf("%s: %d rows", name, len(rows))
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: it goes on", name)
		}
	}
}

// folder has these loads as files.
func folder(t *testing.T, loads ...load) string {
	t.Helper()
	path := t.TempDir()
	for number, l := range loads {
		text, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, fmt.Sprintf("load-%d.json", number)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestEachLoadLeavesItsRequests(t *testing.T) {
	target := server(t, func(http.ResponseWriter, *http.Request) {})
	path := folder(t, at(1000, 20), at(1000, 30), at(1000, 0))
	if err := run(path, target); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"requests-0.csv": 20, "requests-1.csv": 30} {
		text, err := os.ReadFile(filepath.Join(path, name))
		if err != nil || strings.Count(string(text), "\n0,a1,") != want {
			t.Errorf("%s: %q (%v)", name, text, err)
		}
	}
}

func TestATargetThatCannotBeReachedIsNamedInOneLine(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := listener.Addr().String()
	listener.Close()
	path := folder(t, at(1000, 20))
	err = run(path, target)
	if err == nil || !strings.Contains(err.Error(), "cannot reach "+target) || strings.Contains(err.Error(), "\n") {
		t.Errorf("said %v", err)
	}
	if _, err := os.Stat(filepath.Join(path, "requests-0.csv")); !os.IsNotExist(err) {
		t.Errorf("there are requests: %v", err)
	}
}

func TestTheTargetMustBeGiven(t *testing.T) {
	if err := run(t.TempDir(), "gateway"); err == nil || err.Error() != "TARGET: must be host:port" {
		t.Errorf("said %v", err)
	}
}

func TestARateIsHeldOnlyWhereAllLowerOnesAre(t *testing.T) {
	for _, c := range []struct {
		held [3]bool
		want string
	}{
		{[3]bool{true, true, true}, "1200 requests/s"},
		{[3]bool{true, true, false}, "600 requests/s"},
		{[3]bool{true, false, true}, "300 requests/s"},
		{[3]bool{false, true, true}, "none"},
		{[3]bool{}, "none"},
	} {
		if got := highestHeld([]triedRate{{300, c.held[0]}, {600, c.held[1]}, {1200, c.held[2]}}); got != c.want {
			t.Errorf("held %v: names %q, want %q", c.held, got, c.want)
		}
	}
}

func TestTheCheckNamesTheHighestRateHeld(t *testing.T) {
	var out strings.Builder
	if err := checkRates(&out, "", "a1", 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(out.String(), "\n"); len(lines) != 8 || !strings.HasPrefix(lines[6], "highest rate held") {
		t.Errorf("printed %q", out.String())
	}
}
