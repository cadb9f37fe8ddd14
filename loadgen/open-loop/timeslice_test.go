package main

import (
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

// sliceNs calls sched_getattr, which follows schedSetattr on both architectures.
func sliceNs(t *testing.T) uint64 {
	t.Helper()
	var found schedAttr
	_, _, failed := syscall.RawSyscall6(
		schedSetattr[runtime.GOARCH]+1, 0, uintptr(unsafe.Pointer(&found)), unsafe.Sizeof(found), 0, 0, 0,
	)
	if failed != 0 {
		t.Fatal(failed)
	}
	return found.runtime
}

func TestTheSendingThreadHasAShortSlice(t *testing.T) {
	if _, known := schedSetattr[runtime.GOARCH]; !known {
		t.Skip("the number of the system call is not known on " + runtime.GOARCH)
	}
	usual := sliceNs(t)
	if usual == 0 {
		t.Skip("this kernel is older than 6.12: its threads have no slices of their own")
	}
	precisely(func() {
		if got := sliceNs(t); got != uint64(timeSlice.Nanoseconds()) {
			t.Errorf("slice of %d ns, the others have %d ns", got, usual)
		}
	})
}
