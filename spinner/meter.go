package main

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// rusageThread asks getrusage for the calling thread alone; the syscall package has no name for it.
const rusageThread = 1

// counts of one thread, all since its start.
type counts struct {
	steps       atomic.Int64 // of undisturbed walks
	stepsNs     atomic.Int64 // what those took
	walks       atomic.Int64 // undisturbed ones
	interrupted atomic.Int64 // walks that were not
}

// spin walks until done, on a thread of its own. Of every two walks the first brings the ring back into the cache, which
// others have used meanwhile; only the second counts, and only where nobody had the CPU during both. So a step does not
// cost more because the lab's own containers are busy, but because the machine is slower.
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
