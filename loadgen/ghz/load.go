package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strings"
)

const (
	loadFormat  = "tollbooth.load"
	loadVersion = 1
)

// load is what a load-<n>.json says; README.md has the meaning of each field. nil is null, or left out.
type load struct {
	Format           string   `json:"format"`
	Version          int      `json:"version"`
	Target           string   `json:"target"`
	Operation        string   `json:"operation"`
	Requests         *int     `json:"requests"`
	DurationS        *float64 `json:"duration_s"`
	Concurrency      *int     `json:"concurrency"`
	RequestsPerS     *float64 `json:"requests_per_s"`
	LatencyMS        *uint32  `json:"latency_ms"`
	ErrorProbability *float32 `json:"error_probability"`
	Config           uint32   `json:"config"`
	FirstCounter     uint32   `json:"first_counter"`
}

// last says whether no load comes after this one, which is none itself.
func (l load) last() bool { return l.Requests != nil && *l.Requests == 0 }

// name is what the rows call that which is asked.
func (l load) name() string {
	if l.Operation == "" {
		return "Mock"
	}
	return l.Operation
}

// readLoad reads a load; its error names the file and the field.
func readLoad(path string) (load, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return load{}, err
	}
	wanted, err := parseLoad(text)
	if err != nil {
		return load{}, fmt.Errorf("%s: %w", path, err)
	}
	return wanted, nil
}

func parseLoad(text []byte) (load, error) {
	var wanted load
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&wanted); err != nil {
		return load{}, err
	}
	if wanted.Format != loadFormat || wanted.Version != loadVersion {
		return load{}, fmt.Errorf(
			"is %s version %d, not %s version %d", wanted.Format, wanted.Version, loadFormat, loadVersion)
	}
	if wanted.last() {
		return wanted, nil
	}
	return wanted, wanted.check()
}

// check says which rule the load breaks first.
func (l load) check() error {
	_, _, badAddress := net.SplitHostPort(l.Target)
	for _, rule := range []struct {
		broken bool
		says   string
	}{
		{badAddress != nil, "target: must be host:port"},
		{strings.ContainsAny(l.Operation, ",\n"), "operation: must be a name"},
		{(l.Requests == nil) == (l.DurationS == nil), "requests: must be given, or else duration_s"},
		{l.Requests != nil && *l.Requests < 0, "requests: must not be below 0"},
		{l.DurationS != nil && *l.DurationS <= 0, "duration_s: must be above 0"},
		{l.Concurrency == nil && l.RequestsPerS == nil, "concurrency: must be given where requests_per_s is not"},
		{l.Concurrency != nil && *l.Concurrency < 1, "concurrency: must be at least 1"},
		{l.RequestsPerS != nil && *l.RequestsPerS <= 0, "requests_per_s: must be above 0"},
		{l.ErrorProbability != nil && (*l.ErrorProbability < 0 || *l.ErrorProbability > 1),
			"error_probability: must be from 0 to 1"},
		{l.Requests != nil && uint64(l.FirstCounter)+uint64(*l.Requests)-1 > math.MaxUint32,
			"first_counter: the last request's counter would not fit in 32 bits"},
	} {
		if rule.broken {
			return errors.New(rule.says)
		}
	}
	return nil
}
