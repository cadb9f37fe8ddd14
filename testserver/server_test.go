package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// started runs a server on free ports and returns the address of each of its ports.
func started(t *testing.T, delay time.Duration) map[int]string {
	t.Helper()
	var lock sync.Mutex
	addresses := map[int]string{}
	both := make(chan struct{}, 2)
	free := func(port int) (net.Listener, error) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		lock.Lock()
		defer lock.Unlock()
		addresses[port] = "http://" + listener.Addr().String()
		both <- struct{}{}
		return listener, err
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- run(ctx, &server{delay: delay}, free) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-both
	<-both
	lock.Lock()
	defer lock.Unlock()
	return addresses
}

func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response.Status, err)
	}
	return string(body)
}

func TestAnswersTenBytesAndCountsThem(t *testing.T) {
	addresses := started(t, 0)
	get(t, addresses[adminPort]+"/healthz")
	for range 3 {
		if body := get(t, addresses[requestPort]+"/any/path"); body != "0123456789" {
			t.Errorf("answered %q", body)
		}
	}
	want := `{"format":"tollbooth.testserver","version":1,"requests":3}` + "\n"
	if counted := get(t, addresses[adminPort]+"/counters"); counted != want {
		t.Errorf("counted %q, want %q", counted, want)
	}
}

func TestTheHeadersOfTheLastRequestAreShown(t *testing.T) {
	addresses := started(t, 0)
	if shown := get(t, addresses[adminPort]+"/headers"); shown != `{"format":"tollbooth.headers","version":1,"headers":null}`+"\n" {
		t.Errorf("before any request: %q", shown)
	}
	for _, sent := range []string{"first", "last"} {
		request, err := http.NewRequest(http.MethodGet, addresses[requestPort], nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("traceparent", sent)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	var shown struct{ Headers http.Header }
	if err := json.Unmarshal([]byte(get(t, addresses[adminPort]+"/headers")), &shown); err != nil {
		t.Fatal(err)
	}
	if got := shown.Headers.Get("traceparent"); got != "last" {
		t.Errorf("traceparent %q", got)
	}
}

func TestRequestsThatWaitDoNotWaitForEachOther(t *testing.T) {
	const delay, count = 200 * time.Millisecond, 50
	addresses := started(t, delay)
	began := time.Now()
	var waiting sync.WaitGroup
	for range count {
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			own := time.Now()
			response, err := http.Get(addresses[requestPort])
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			if took := time.Since(own); took < delay {
				t.Errorf("answered after %v, want at least %v", took, delay)
			}
		}()
	}
	waiting.Wait()
	// One after the other they would take 10 s.
	if took := time.Since(began); took > count*delay/2 {
		t.Errorf("%d requests took %v together", count, took)
	}
}

func TestRequestThatNobodyWaitsForIsNotCounted(t *testing.T) {
	addresses := started(t, time.Minute)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, addresses[requestPort], nil)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := http.DefaultClient.Do(request); err == nil {
		response.Body.Close()
		t.Fatal("answered before the delay")
	}
	if counted := get(t, addresses[adminPort]+"/counters"); !strings.Contains(counted, `"requests":0`) {
		t.Errorf("counted %q", counted)
	}
}

func TestOptions(t *testing.T) {
	if delay, err := parse(nil, nil); delay != 10*time.Millisecond || err != nil {
		t.Error(delay, err)
	}
	if delay, err := parse([]string{"--delay", "0s"}, nil); delay != 0 || err != nil {
		t.Error(delay, err)
	}
	var help bytes.Buffer
	if _, err := parse([]string{"--help"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-delay") {
		t.Error(err, help.String())
	}
	for arguments, says := range map[string]string{
		"--delay=-1s": "a delay of -1s is not possible; give 0 to 1m0s",
		"--delay=2m":  "a delay of 2m0s is not possible",
		"--delay=x":   "invalid value",
	} {
		if _, err := parse([]string{arguments}, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", arguments, err, says)
		}
	}
}

func TestPortThatIsTaken(t *testing.T) {
	taken := errors.New("taken")
	fail := func(int) (net.Listener, error) { return nil, taken }
	if err := run(context.Background(), &server{}, fail); !errors.Is(err, taken) {
		t.Error(err)
	}
}
