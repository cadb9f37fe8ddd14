package scrape

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const (
	answer  = "otelcol_receiver_accepted_spans{receiver=\"otlp\"} %d\notelcol_process_memory_rss 1024\n"
	soon    = time.Millisecond
	never   = time.Hour
	patient = 10 * time.Second
)

// collector answers its n-th request, from 1, with what `reply` does.
func collector(t *testing.T, reply func(n int64, w http.ResponseWriter, r *http.Request)) string {
	t.Helper()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply(requests.Add(1), w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// recorded runs until `stop`, which `endpoints` get, is called, and returns the record by the Collectors' names.
func recorded(t *testing.T, interval, timeout time.Duration, endpoints func(stop func()) []Endpoint) map[string][]map[string]any {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patient)
	defer stop()
	path := filepath.Join(t.TempDir(), "collector.jsonl")
	if err := Run(ctx, Config{endpoints(stop), path, interval, timeout}); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() == context.DeadlineExceeded {
		t.Fatal("the Collectors were not scraped often enough")
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := map[string][]map[string]any{}
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		var line map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, scanner.Text())
		}
		name, _ := line["name"].(string) // the header has none
		lines[name] = append(lines[name], line)
	}
	return lines
}

func TestEachAnswerIsALineAndTheEndHasALastOne(t *testing.T) {
	began := time.Now().UnixNano()
	lines := recorded(t, soon, patient, func(stop func()) []Endpoint {
		return []Endpoint{{"one", collector(t, func(n int64, w http.ResponseWriter, _ *http.Request) {
			if n == 3 {
				stop()
			}
			fmt.Fprintf(w, answer, 1000*n)
		})}}
	})
	if header := lines[""]; len(header) != 1 || header[0]["format"] != "tollbooth.collector" || header[0]["interval_ns"] != 1e6 {
		t.Errorf("the header is %v", header)
	}
	if len(lines["one"]) != 4 {
		t.Fatalf("%d lines, want 3 and the last", len(lines["one"]))
	}
	last := float64(began)
	for i, line := range lines["one"] {
		if line["accepted_spans"] != float64(1000*(i+1)) || line["process_rss_bytes"] != 1024.0 || line["failed_scrapes"] != 0.0 {
			t.Errorf("line %d is %v", i+1, line)
		}
		if now := line["t_ns"].(float64); now < last {
			t.Errorf("line %d is from before the one before", i+1)
		} else {
			last = now
		}
	}
}

// cutOff ends the connection in the middle of an answer.
func cutOff(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintf(w, answer, 1)
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func TestAScrapeThatFailsIsCountedAndTheNextOneIsMade(t *testing.T) {
	for name, fail := range map[string]struct {
		reply func(w http.ResponseWriter, r *http.Request)
		want  string
	}{
		"status":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "503 Service Unavailable"},
		"redirect":  {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "302 Found"},
		"broken":    {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "otelcol_exporter_sent_spans many\n") }, "is not a number"},
		"foreign":   {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "go_goroutines 7\n") }, "no metric of a Collector"},
		"cut off":   {cutOff, "unexpected EOF"},
		"too large": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("#\n", mostBytes/2+1)) }, "larger than 4194304 bytes"},
	} {
		lines := recorded(t, soon, patient, func(stop func()) []Endpoint {
			return []Endpoint{{"one", collector(t, func(n int64, w http.ResponseWriter, r *http.Request) {
				switch n {
				case 1:
					fmt.Fprintf(w, answer, 7)
					return
				case 3:
					stop()
					fmt.Fprintf(w, answer, 9)
					return
				}
				fail.reply(w, r)
			})}}
		})["one"]
		if len(lines) != 3 {
			t.Errorf("%s: %d lines, want 3: of the last scrape only an answer counts", name, len(lines))
			continue
		}
		if _, counted := lines[1]["accepted_spans"]; counted || !strings.Contains(fmt.Sprint(lines[1]["error"]), fail.want) {
			t.Errorf("%s: the failed scrape is %v", name, lines[1])
		}
		if _, failed := lines[2]["error"]; failed || lines[2]["accepted_spans"] != 9.0 {
			t.Errorf("%s: the scrape after it is %v", name, lines[2])
		}
		for i, want := range []float64{0, 1, 1} {
			if lines[i]["failed_scrapes"] != want {
				t.Errorf("%s: line %d has %v failed scrapes, want %v", name, i+1, lines[i]["failed_scrapes"], want)
			}
		}
	}
}

func TestACollectorThatIsAwayIsCounted(t *testing.T) {
	lines := recorded(t, soon, patient, func(stop func()) []Endpoint {
		present := collector(t, func(n int64, w http.ResponseWriter, _ *http.Request) {
			if n == 20 {
				stop()
			}
			fmt.Fprintf(w, answer, n)
		})
		return []Endpoint{{"away", "http://127.0.0.1:1/metrics"}, {"present", present}}
	})
	away := lines["away"]
	if len(away) == 0 || away[len(away)-1]["failed_scrapes"] != float64(len(away)) {
		t.Fatalf("the Collector that is away has %v", away)
	}
	if !strings.Contains(fmt.Sprint(away[0]["error"]), "connection refused") {
		t.Errorf("the error is %v", away[0]["error"])
	}
	if len(lines["present"]) != 21 {
		t.Errorf("%d lines of the Collector that is present", len(lines["present"]))
	}
}

func TestASlowCollectorIsTimedOutAndDelaysNoOther(t *testing.T) {
	lines := recorded(t, soon, 300*time.Millisecond, func(stop func()) []Endpoint {
		slow := collector(t, func(_ int64, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		quick := collector(t, func(n int64, w http.ResponseWriter, _ *http.Request) {
			if n == 10 {
				stop()
			}
			fmt.Fprintf(w, answer, n)
		})
		return []Endpoint{{"slow", slow}, {"quick", quick}}
	})
	if len(lines["quick"]) != 11 {
		t.Errorf("%d lines of the quick Collector", len(lines["quick"]))
	}
	for _, line := range lines["slow"] {
		if !strings.Contains(fmt.Sprint(line["error"]), "Client.Timeout exceeded") {
			t.Errorf("the slow Collector has %v", line)
		}
	}
	if len(lines["slow"]) == 0 {
		t.Error("the slow Collector has no line")
	}
}

func TestARecordThatCannotBeWrittenEndsTheRun(t *testing.T) {
	url := collector(t, func(n int64, w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, answer, n) })
	ctx, stop := context.WithTimeout(context.Background(), patient)
	defer stop()
	for path, want := range map[string]string{
		"/dev/full": "no space left on device",
		filepath.Join(t.TempDir(), "missing", "collector.jsonl"): "no such file or directory",
	} {
		err := Run(ctx, Config{[]Endpoint{{"one", url}}, path, never, patient})
		if err == nil || ctx.Err() != nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v", path, err)
		}
	}
}

func TestEndpoints(t *testing.T) {
	got, err := ParseEndpoints("edge-1=http://edge-1:8888/metrics,gateway=http://10.0.0.2:8888/metrics?a=b")
	want := []Endpoint{{"edge-1", "http://edge-1:8888/metrics"}, {"gateway", "http://10.0.0.2:8888/metrics?a=b"}}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{
		"":                           `"" is not a name`,
		"http://collector:8888":      `"http://collector:8888" is not a name`,
		"a=http://a,":                `"" is not a name`,
		"two words=http://a":         `"two words" is not a name`,
		"a":                          `"" is not an address`,
		"a=a:8888/metrics":           `"a:8888/metrics" is not an address`,
		"a=https://a/metrics":        `"https://a/metrics" is not an address`,
		"a=http:///metrics":          `"http:///metrics" is not an address`,
		"a=http://one,a=http://two":  `the name "a" is given to two Collectors`,
		"a=file:///etc/passwd":       `"file:///etc/passwd" is not an address`,
		"a=http://one,b=\x00http://": "is not an address",
	} {
		if got, err := ParseEndpoints(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
