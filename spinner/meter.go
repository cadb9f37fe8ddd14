package main

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// rusageThread makes getrusage report the calling thread only. The syscall package does not define it.
const rusageThread = 1

// counts of one thread, all since its start.
type counts struct {
	steps       atomic.Int64 // of undisturbed walks
	stepsNs     atomic.Int64 // duration of those walks
	walks       atomic.Int64 // undisturbed ones
	interrupted atomic.Int64 // disturbed walks
}

// spin walks until done, on its own thread. Only every second walk counts: the first one loads the ring back into the
// cache. No other thread may run on the CPU during either. The time of a step then shows the speed of the machine, not
// how busy the lab's own containers are.
func spin(done <-chan struct{}, ring []int, found *counts) {
	runtime.LockOSThread()
	at := 0
	for {
		select {
		case <-done:
			return
		default:
		}
		switched := switches()
		at = walk(ring, at)
		began := time.Now()
		at = walk(ring, at)
		took := time.Since(began)
		if switches() != switched {
			found.interrupted.Add(1)
			continue
		}
		found.steps.Add(int64(len(ring)))
		found.stepsNs.Add(took.Nanoseconds())
		found.walks.Add(1)
	}
}

// switches counts how often the thread lost its CPU.
func switches() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(rusageThread, &usage) != nil {
		return -1 // never happens with these arguments; if so, no walk counts as disturbed
	}
	return int64(usage.Nvcsw) + int64(usage.Nivcsw)
}
