package main

import (
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"tollbooth/internal/clock"
)

const (
	schedIdle   = 5
	resetOnFork = 1
)

// attributes calls sched_getattr, which follows schedSetattr on both architectures.
func attributes(t *testing.T) (found schedAttr) {
	t.Helper()
	_, _, failed := syscall.RawSyscall6(
		schedSetattr[runtime.GOARCH]+1, 0, uintptr(unsafe.Pointer(&found)), unsafe.Sizeof(found), 0, 0, 0,
	)
	if failed != 0 {
		t.Error(failed)
	}
	return found
}

// skipUnknown skips a test on architectures whose numbers of system calls are not known.
func skipUnknown(t *testing.T) {
	t.Helper()
	if _, known := schedSetattr[runtime.GOARCH]; !known {
		t.Skip("the number of the system call is not known on " + runtime.GOARCH)
	}
}

func TestTheSendingThreadHasAShortSlice(t *testing.T) {
	skipUnknown(t)
	usual := attributes(t).runtime
	if usual == 0 {
		t.Skip("this kernel is older than 6.12: its threads have no slices of their own")
	}
	precisely(func() {
		if got := attributes(t).runtime; got != uint64(timeSlice.Nanoseconds()) {
			t.Errorf("slice of %d ns, the others have %d ns", got, usual)
		}
	})
}

func TestTheSendingThreadKeepsItsPolicy(t *testing.T) {
	skipUnknown(t)
	usual := attributes(t).runtime
	for name, c := range map[string]struct {
		set     schedAttr
		shorter bool
	}{
		"other":           {schedAttr{policy: schedOther, nice: 5}, true},
		"batch":           {schedAttr{policy: schedBatch, nice: 5}, true},
		"batch with flag": {schedAttr{policy: schedBatch, flags: resetOnFork}, true},
		"idle":            {schedAttr{policy: schedIdle}, false},
	} {
		clock.Precisely(func() {
			c.set.size = uint32(unsafe.Sizeof(c.set))
			_, _, failed := syscall.RawSyscall(schedSetattr[runtime.GOARCH], 0, uintptr(unsafe.Pointer(&c.set)), 0)
			if failed != 0 {
				t.Errorf("%s: %v", name, failed)
			}
			shortenSlice()
			want := c.set
			want.runtime = usual
			if c.shorter && usual > 0 {
				want.runtime = uint64(timeSlice.Nanoseconds())
			}
			if got := attributes(t); got != want {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		})
	}
}
