package main

import (
	"strings"
	"testing"

	common "tollbooth/internal/load"
)

// someLoad is a load of workers who wait for their traces.
func someLoad() load {
	return load{
		Common: common.Ending(1), Plan: realistic(), Seed: 1, Transport: "grpc", Compression: "none",
		SendTimeoutMs: 20_000, ReceiveTimeoutMs: 20_000, Returns: true, Coupled: &coupled{Workers: 3},
	}
}

// rate is a load at a rate.
func rate(tracesPerS float64, tracesPerRequest int) load {
	l := someLoad()
	l.Coupled = nil
	l.Decoupled = &decoupled{TracesPerS: tracesPerS, Arrivals: "fixed", Connections: 2, TracesPerRequest: tracesPerRequest}
	return l
}

func TestALoadThatMakesNoSenseIsOneClearLine(t *testing.T) {
	for want, change := range map[string]func(*load){
		"": func(*load) {},
		"duration_s: must be given, and neither requests nor requests_per_s": func(l *load) { l.Common = common.New(5) },
		"duration_s: is 86401, must be from 0 to 86400":                      func(l *load) { *l.DurationS = 86_401 },
		`transport: must be "grpc", "http" or "zipkin"`:                      func(l *load) { l.Transport = "udp" },
		`compression: must be "none" or "gzip"`:                              func(l *load) { l.Compression = "zip" },
		"send_timeout_ms: is 0, must be from 1 to 3600000":                   func(l *load) { l.SendTimeoutMs = 0 },
		"receive_timeout_ms: is -1, must be from 1 to 3600000":               func(l *load) { l.ReceiveTimeoutMs = -1 },
		"coupled, decoupled, replay: exactly one must be given, not 0":       func(l *load) { l.Coupled = nil },
		"coupled, decoupled, replay: exactly one must be given, not 2":       func(l *load) { l.Replay = &replay{} },
		"coupled.workers: is 0, must be from 1 to 50000":                     func(l *load) { l.Coupled.Workers = 0 },
		"coupled.workers_per_s: is -0.5, must be from 0 to 50000":            func(l *load) { l.Coupled.WorkersPerS = -0.5 },
		"coupled.shared_connections: is -1, must be from 0 to 50000":         func(l *load) { l.Coupled.Shared = -1 },
		"decoupled.traces_per_s: must be above 0":                            func(l *load) { *l = rate(0, 1) },
		"decoupled.traces_per_s: is 3000000, must be from 0 to 2000000":      func(l *load) { *l = rate(3e6, 1) },
		"decoupled.traces_per_request: is 0, must be from 1 to 10000":        func(l *load) { *l = rate(1, 0) },
		`decoupled.arrivals: must be "fixed" or "poisson"`:                   func(l *load) { *l = rate(1, 1); l.Decoupled.Arrivals = "often" },
		"decoupled.connections: is 0, must be from 1 to 50000":               func(l *load) { *l = rate(1, 1); l.Decoupled.Connections = 0 },
		"replay.log: must be the name of a .csv file in the folder":          func(l *load) { l.Coupled, l.Replay = nil, &replay{"../x.csv", 1} },
		"replay.connections: is 0, must be from 1 to 50000":                  func(l *load) { l.Coupled, l.Replay = nil, &replay{"x.csv", 0} },
		"plan.spans: min is 5, above max, which is 4":                        func(l *load) { l.Plan.Spans = bounds{5, 4} },
		"plan.spans: must be from 0 to 10000":                                func(l *load) { l.Plan.Spans = bounds{-1, 4} },
		"plan.spans: max is 0, so that every trace would be empty":           func(l *load) { l.Plan.Spans = bounds{} },
		"plan.span_duration_ms: must be from 0 to 3600000":                   func(l *load) { l.Plan.SpanDurationMs.Max = 3_600_001 },
		"plan.attributes: must be from 0 to 1000":                            func(l *load) { l.Plan.Attributes.Max = 1001 },
		"plan.attribute_bytes: must be from 0 to 65536":                      func(l *load) { l.Plan.AttributeBytes.Max = 65_537 },
		"plan.clients: must be from 1 to 100":                                func(l *load) { l.Plan.Clients = bounds{} },
		"plan.risky_probability: must be from 0 to 1":                        func(l *load) { l.Plan.RiskyProbability = 1.1 },
		"plan.error_probability: must be from 0 to 1":                        func(l *load) { l.Plan.ErrorProbability = -0.1 },
		"plan.sibling_probability: must be from 0 to 1":                      func(l *load) { l.Plan.SiblingProbability = 7 },
		"plan.incomplete_probability: must be from 0 to 1":                   func(l *load) { l.Plan.IncompleteProbability = 7 },
		"plan.incomplete_probability: a trace of one span cannot lack one":   func(l *load) { l.Plan.Spans, l.Plan.IncompleteProbability = bounds{1, 1}, 0.5 },
		"plan: a request could have 14687 KiB, and receivers take 4096: fewer spans, " +
			"attributes or traces_per_request": func(l *load) { *l = rate(1, 1000) },
	} {
		l := someLoad()
		change(&l)
		said := ""
		if err := l.Check(); err != nil {
			said = err.Error()
		}
		if said != want || strings.Contains(said, "\n") {
			t.Errorf("said %q, want %q", said, want)
		}
	}
}

func TestALoadIsReadAsREADMEShowsIt(t *testing.T) {
	const text = `{"format":"tollbooth.load","version":1,"duration_s":1200,"seed":1,
 "plan":{"spans":{"min":0,"max":10},"span_duration_ms":{"min":0,"max":100},"attributes":{"min":0,"max":0},
  "attribute_bytes":{"min":16,"max":16},"clients":{"min":1,"max":1},"sibling_probability":0,"incomplete_probability":0,
  "risky_probability":0,"error_probability":0},
 "transport":"grpc","compression":"gzip","send_timeout_ms":5000,"receive_timeout_ms":10000,"returns":true,
 "coupled":{"workers":6000,"workers_per_s":5,"wait_out_durations":true,"shared_connections":0}}`
	l, err := common.Parse[load]([]byte(text))
	if err != nil || *l.DurationS != 1200 || l.Plan.Spans.Max != 10 || l.Coupled.WorkersPerS != 5 || !l.Coupled.WaitOut || !l.Returns {
		t.Errorf("read %+v (%v)", l, err)
	}
	if _, err := common.Parse[load]([]byte(strings.Replace(text, "workers_per_s", "workers_a_second", 1))); err == nil {
		t.Error("an unknown field is accepted")
	}
	if found := strings.Contains(read(t, "README.md"), text); !found {
		t.Error("README.md shows another load")
	}
}

func TestTheLastLoadNeedsNoOtherField(t *testing.T) {
	l, err := common.Parse[load]([]byte(`{"format":"tollbooth.load","version":1,"requests":0}`))
	if err != nil || !l.Last() {
		t.Errorf("read %+v (%v)", l, err)
	}
}

func TestTooFewOpenFilesAreNamed(t *testing.T) {
	if err := checkOpenFiles(10_000, 20_000); err != nil {
		t.Error(err)
	}
	err := checkOpenFiles(10_000, 1024)
	if err == nil || !strings.HasPrefix(err.Error(), "10000 connections need 10256 open files, and the limit is 1024 (RLIMIT_NOFILE") {
		t.Errorf("said %v", err)
	}
}

func TestTargetsAreHostsWithPorts(t *testing.T) {
	if found, err := targets("edge-1:4317,edge-2:4317"); err != nil || len(found) != 2 || found[1] != "edge-2:4317" {
		t.Errorf("%q (%v)", found, err)
	}
	for _, wrong := range []string{"", "collector", "a:1,", "a:1,b"} {
		if _, err := targets(wrong); err == nil || !strings.HasPrefix(err.Error(), "TARGET: must be host:port") {
			t.Errorf("%q: said %v", wrong, err)
		}
	}
}
