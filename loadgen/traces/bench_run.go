package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"time"
)

const (
	sinkTarget   = "127.0.0.1:4317"
	sinkCounters = "http://127.0.0.1:8888/counters"
	sinkStart    = 5 * time.Second
	kibPerMiB    = 1024
	spansInTrace = 10
)

// ran is what one run of a generator came to.
type ran struct {
	traces, failed             int
	tracesPerS, deliveredPerS  float64
	cpuS, memoryMiB, spanBytes float64
	late                       []int64 // ns, sorted; of all traces that were sent
	rss                        []float64
	workers                    int
	connections                uint64
}

func (r ran) perCPUSecond() float64 { return float64(r.traces) / r.cpuS }

// held says whether a rate was held. It was not if nothing came: the rate is no number then.
func (r ran) held(perS float64) bool { return r.failed == 0 && r.tracesPerS >= heldShare*perS }

// delay is a quantile of how late traces were sent.
func (r ran) delay(quantile float64) time.Duration {
	if len(r.late) == 0 {
		return time.Hour
	}
	return time.Duration(r.late[min(int(quantile*float64(len(r.late))), len(r.late)-1)])
}

// startSink starts the sink and waits until it answers.
func startSink(path string) (stop func(), err error) {
	command := exec.Command(path)
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	}
	for end := time.Now().Add(sinkStart); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if _, err = readSink(); err == nil {
			return stop, nil
		}
	}
	stop()
	return nil, fmt.Errorf("the sink does not answer: %w", err)
}

// taken is what the sink counted.
type taken struct {
	Spans uint64 `json:"accepted_spans"`
	Bytes uint64 `json:"bytes"`
}

func readSink() (found taken, err error) {
	client := http.Client{Timeout: sinkStart}
	response, err := client.Get(sinkCounters)
	if err != nil {
		return found, err
	}
	defer response.Body.Close()
	return found, json.NewDecoder(response.Body).Decode(&found)
}

// execute runs a program to its end, and returns its log, and what it cost and delivered to the sink.
func execute(command *exec.Cmd) (log string, found ran, err error) {
	before, err := readSink()
	if err != nil {
		return "", found, err
	}
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Run(); err != nil {
		return "", found, fmt.Errorf("%s: %w: %s", command.Path, err, out.String())
	}
	after, err := readSink()
	if err != nil {
		return "", found, err
	}
	state := command.ProcessState
	found.cpuS = (state.UserTime() + state.SystemTime()).Seconds()
	found.memoryMiB = float64(state.SysUsage().(*syscall.Rusage).Maxrss) / kibPerMiB
	found.traces = int(after.Spans-before.Spans) / spansInTrace
	found.spanBytes = float64(after.Bytes-before.Bytes) / float64(max(1, after.Spans-before.Spans))
	return out.String(), found, nil
}

// runSelf has the generator send loads in a process of its own. What it returns is about the last of them; CPU time and
// traces are of all.
func (b *bench) runSelf(loads ...load) (found ran, err error) {
	folder, err := os.MkdirTemp("", "traces-bench-")
	if err != nil {
		return found, err
	}
	defer os.RemoveAll(folder)
	last := []byte(`{"format":"tollbooth.load","version":1,"requests":0}`)
	for number := range len(loads) + 1 {
		text := last
		if number < len(loads) {
			if text, err = json.Marshal(loads[number]); err != nil {
				return found, err
			}
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("load-%d.json", number)), text, 0o600); err != nil {
			return found, err
		}
	}
	command := exec.Command(b.self, "--folder", folder, "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0")
	command.Env = append(os.Environ(), "TARGET="+sinkTarget)
	if _, found, err = execute(command); err != nil {
		return found, err
	}
	return found, found.read(folder, len(loads)-1)
}

// read adds what the generator recorded of a load.
func (r *ran) read(folder string, number int) error {
	var first, last int64
	count, workers := 0, map[int]bool{}
	err := readLines(filepath.Join(folder, fmt.Sprintf("traces-%d.csv", number)), recordHeader, func(line []byte) error {
		logged, err := parseRecord(line)
		if err != nil {
			return err
		}
		if logged.sendStart != never {
			r.late = append(r.late, logged.sendStart)
		}
		if logged.outcome != success {
			if logged.outcome != shutdown {
				r.failed++
			}
			return nil
		}
		count++
		workers[logged.worker] = true
		if first == 0 || logged.intended < first {
			first = logged.intended
		}
		last = max(last, logged.intended+logged.sendEnd)
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(r.late)
	r.workers, r.tracesPerS = len(workers), float64(count)/time.Duration(last-first).Seconds()
	text, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("generator-%d.jsonl", number)))
	if err != nil {
		return err
	}
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var counted countersLine
		if err := json.Unmarshal(line, &counted); err != nil {
			return err
		}
		if i > 0 { // below the header
			r.rss = append(r.rss, float64(counted.RSSBytes)/(1<<20))
			r.connections = counted.ConnectionsOpened
		}
	}
	return nil
}

// settings are telemetrygen's.
type settings struct{ workers, batch int }

var generated = regexp.MustCompile(`traces generated\s+\{.*"traces": (\d+)`)

// runTelemetrygen has telemetrygen generate as many traces of the same number of spans as it can. A trace counts where
// it was generated: of those, it drops what its queue has no room for.
func (b *bench) runTelemetrygen(s settings, lasts time.Duration) (found ran, err error) {
	log, found, err := execute(exec.Command(b.telemetrygen, "traces", "--otlp-endpoint", sinkTarget, "--otlp-insecure",
		"--child-spans", strconv.Itoa(spansInTrace-1), "--workers", strconv.Itoa(s.workers), "--rate", "0",
		"--batch-size", strconv.Itoa(s.batch), "--duration", lasts.String()))
	if err != nil {
		return found, err
	}
	found.deliveredPerS = float64(found.traces) / lasts.Seconds()
	found.traces = 0
	for _, count := range generated.FindAllStringSubmatch(log, -1) {
		traces, err := strconv.Atoi(count[1])
		if err != nil {
			return found, err
		}
		found.traces += traces
	}
	if found.traces == 0 {
		return found, errors.New("telemetrygen does not say how many traces it generated")
	}
	found.tracesPerS = float64(found.traces) / lasts.Seconds()
	return found, nil
}
