package main

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	common "tollbooth/internal/load"
)

const (
	maxDurationS        = 86_400
	maxTimeoutMs        = 3_600_000
	maxWorkers          = 50_000
	maxTracesPerS       = 2_000_000
	maxTracesPerRequest = 10_000
	maxInFlight         = 10_000
)

// load is what a load-<n>.json says; README.md describes each field. nil is null, or left out.
type load struct {
	common.Common
	Plan             plan       `json:"plan"`
	Seed             uint64     `json:"seed"`
	Transport        string     `json:"transport"`
	Compression      string     `json:"compression"`
	SendTimeoutMs    int        `json:"send_timeout_ms"`
	ReceiveTimeoutMs int        `json:"receive_timeout_ms"`
	Returns          bool       `json:"returns"`
	Coupled          *coupled   `json:"coupled"`
	Decoupled        *decoupled `json:"decoupled"`
	Replay           *replay    `json:"replay"`
}

// coupled are workers who each wait for their trace before the next. Each has a connection of its own, or they share some.
type coupled struct {
	Workers     int     `json:"workers"`
	WorkersPerS float64 `json:"workers_per_s"`
	WaitOut     bool    `json:"wait_out_durations"`
	Shared      int     `json:"shared_connections"`
}

// decoupled is an open loop: traces at a rate, whatever becomes of them.
type decoupled struct {
	TracesPerS       float64 `json:"traces_per_s"`
	Arrivals         string  `json:"arrivals"`
	Connections      int     `json:"connections"`
	TracesPerRequest int     `json:"traces_per_request"`
}

// replay is an open loop with the send times of a log.
type replay struct {
	Log         string `json:"log"`
	Connections int    `json:"connections"`
}

// Check returns the first rule that the load breaks.
func (l load) Check() error {
	if err := l.Common.Check(); err != nil || l.Last() {
		return err
	}
	return cmp.Or(
		common.Broken(l.Requests != nil || l.RequestsPerS != nil, "duration_s: must be given, and neither requests nor requests_per_s"),
		between("duration_s", *cmp.Or(l.DurationS, new(float64)), 0, maxDurationS),
		common.Broken(transports[l.Transport].open == nil, `transport: must be "grpc", "http" or "zipkin"`),
		common.Broken(l.Compression != "none" && l.Compression != "gzip", `compression: must be "none" or "gzip"`),
		between("send_timeout_ms", float64(l.SendTimeoutMs), 1, maxTimeoutMs),
		between("receive_timeout_ms", float64(l.ReceiveTimeoutMs), 1, maxTimeoutMs),
		l.checkLoop(),
		l.Plan.check(l.tracesPerRequest()),
	)
}

// checkLoop checks the one of the three that says how traces are sent.
func (l load) checkLoop() error {
	given := 0
	for _, has := range []bool{l.Coupled != nil, l.Decoupled != nil, l.Replay != nil} {
		if has {
			given++
		}
	}
	switch {
	case given != 1:
		return fmt.Errorf("coupled, decoupled, replay: exactly one must be given, not %d", given)
	case l.Coupled != nil:
		return cmp.Or(
			between("coupled.workers", float64(l.Coupled.Workers), 1, maxWorkers),
			between("coupled.workers_per_s", l.Coupled.WorkersPerS, 0, maxWorkers),
			between("coupled.shared_connections", float64(l.Coupled.Shared), 0, maxWorkers),
		)
	case l.Decoupled != nil:
		return cmp.Or(
			common.Broken(l.Decoupled.TracesPerS <= 0, "decoupled.traces_per_s: must be above 0"),
			between("decoupled.traces_per_s", l.Decoupled.TracesPerS, 0, maxTracesPerS),
			common.Broken(!slices.Contains([]string{"fixed", "poisson"}, l.Decoupled.Arrivals),
				`decoupled.arrivals: must be "fixed" or "poisson"`),
			between("decoupled.connections", float64(l.Decoupled.Connections), 1, maxWorkers),
			between("decoupled.traces_per_request", float64(l.Decoupled.TracesPerRequest), 1, maxTracesPerRequest),
		)
	}
	return cmp.Or(
		common.Broken(l.Replay.Log != filepath.Base(l.Replay.Log) || !strings.HasSuffix(l.Replay.Log, ".csv"),
			"replay.log: must be the name of a .csv file in the folder"),
		between("replay.connections", float64(l.Replay.Connections), 1, maxWorkers),
	)
}

// between is the error of a number that is out of bounds.
func between(field string, value, least, most float64) error {
	outside := !(value >= least && value <= most) // true for NaN too
	return common.Broken(outside, fmt.Sprintf("%s: is %s, must be from %s to %s", field, number(value), number(least), number(most)))
}

func number(value float64) string {
	if value == math.Trunc(value) && math.Abs(value) < 1e15 {
		return fmt.Sprintf("%.0f", value)
	}
	return fmt.Sprintf("%g", value)
}

func (l load) duration() time.Duration { return time.Duration(*l.DurationS * float64(time.Second)) }

func (l load) sendTimeout() time.Duration { return time.Duration(l.SendTimeoutMs) * time.Millisecond }

func (l load) receiveTimeout() time.Duration {
	return time.Duration(l.ReceiveTimeoutMs) * time.Millisecond
}

func (l load) tracesPerRequest() int {
	if l.Decoupled != nil {
		return l.Decoupled.TracesPerRequest
	}
	return 1
}

// connections is how many the load opens to each target.
func (l load) connections() int {
	switch {
	case l.Coupled != nil:
		return cmp.Or(l.Coupled.Shared, l.Coupled.Workers)
	case l.Decoupled != nil:
		return l.Decoupled.Connections
	}
	return l.Replay.Connections
}
