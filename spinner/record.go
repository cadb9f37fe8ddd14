package main

import "time"

// header is the record's first line; docs/reference/formats.md describes the file.
type header struct {
	Format     string `json:"format"`
	Version    int    `json:"version"`
	IntervalNs int64  `json:"interval_ns"`
	RingBytes  int    `json:"ring_bytes"`
	TNs        int64  `json:"t_ns"`
}

// sample is what one thread has counted since its start.
type sample struct {
	TNs         int64 `json:"t_ns"`
	Thread      int   `json:"thread"`
	Steps       int64 `json:"steps"`
	StepsNs     int64 `json:"steps_ns"`
	Walks       int64 `json:"walks"`
	Interrupted int64 `json:"interrupted"`
}

func newHeader(interval time.Duration, bytes int, at time.Time) header {
	return header{"tollbooth.speed", 1, interval.Nanoseconds(), bytes, at.UnixNano()}
}

func newSample(thread int, found *counts, at time.Time) sample {
	return sample{
		TNs:         at.UnixNano(),
		Thread:      thread,
		Steps:       found.steps.Load(),
		StepsNs:     found.stepsNs.Load(),
		Walks:       found.walks.Load(),
		Interrupted: found.interrupted.Load(),
	}
}
