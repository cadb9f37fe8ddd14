package main

import (
	"runtime"
	"syscall"
	"time"
)

const (
	prSetTimerSlack = 29
	slackNs         = 1
)

// clock is Unix time that a step of the machine's clock does not bend: it follows the monotonic clock from `began` on.
type clock struct{ began time.Time }

func (c clock) now() int64 { return c.began.UnixNano() + time.Since(c.began).Nanoseconds() }

// precisely runs the function on a thread of its own, whose sleeps end without the kernel's usual slack of 50 us, and
// which waits less for threads that run.
func precisely(function func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		// The call fails only for an unknown option; the sleeps would then end 50 us later.
		_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, slackNs, 0)
		shortenSlice()
		function()
	}()
	<-done
}

// sleepUntil returns at a time of the clock, or at once where that has passed. It sleeps in the kernel: Go's own timers
// may be 1 ms late, and spinning would take CPU from the system under test.
func (c clock) sleepUntil(due int64) {
	for left := due - c.now(); left > 0; left = due - c.now() {
		rest := syscall.NsecToTimespec(left)
		_ = syscall.Nanosleep(&rest, nil) // a signal ends it early, and the loop sleeps again
	}
}
