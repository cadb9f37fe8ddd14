// Package clock is the time of load generators: it goes on evenly, and ends sleeps precisely.
package clock

import (
	"runtime"
	"syscall"
	"time"
)

const (
	prSetTimerSlack = 29
	slackNs         = 1
)

// Clock is Unix time that a step of the machine's clock does not bend: it follows the monotonic clock from Began on.
type Clock struct{ Began time.Time }

// New returns a clock that begins now.
func New() Clock { return Clock{time.Now()} }

// Now is the Unix time in ns.
func (c Clock) Now() int64 { return c.Began.UnixNano() + time.Since(c.Began).Nanoseconds() }

// At is a time of this clock, in ns, as a time.Time with a monotonic part.
func (c Clock) At(ns int64) time.Time { return c.Began.Add(time.Duration(ns - c.Began.UnixNano())) }

// SleepUntil returns at a time of the clock, or at once where that has passed. It sleeps in the kernel: Go's own timers
// may be 1 ms late, and spinning would take CPU from the system under test.
func (c Clock) SleepUntil(due int64) {
	for left := due - c.Now(); left > 0; left = due - c.Now() {
		rest := syscall.NsecToTimespec(left)
		_ = syscall.Nanosleep(&rest, nil) // a signal ends it early, and the loop sleeps again
	}
}

// Precisely runs the function on a thread of its own, whose sleeps end without the kernel's usual slack of 50 us.
func Precisely(function func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		// The call fails only for an unknown option; the sleeps would then end 50 us later.
		_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, slackNs, 0)
		function()
	}()
	<-done
}
