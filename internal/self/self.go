// Package self reads the cost of the observer itself.
package self

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"tollbooth/internal/kernfile"
	"tollbooth/internal/parse"
)

// Cost of this process since it started.
type Cost struct {
	CPUNs    uint64
	RSSBytes uint64
}

// Reader holds the open file.
type Reader struct{ statm kernfile.File }

// Open opens this process's own counters.
func Open(procRoot string) (*Reader, error) {
	statm, err := kernfile.Open(filepath.Join(procRoot, "self/statm"))
	return &Reader{statm}, err
}

// Close closes the file.
func (r *Reader) Close() { r.statm.Close() }

// Read reads the process's CPU time (user and system) and resident memory.
func (r *Reader) Read(buffer *kernfile.Buffer) (Cost, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return Cost{}, fmt.Errorf("getrusage: %w", err)
	}
	text, err := buffer.Read(&r.statm)
	if err != nil {
		return Cost{}, err
	}
	_, resident := parse.Word(text) // the first word is the virtual size
	return Cost{
		CPUNs:    uint64(usage.Utime.Nano() + usage.Stime.Nano()),
		RSSBytes: parse.Uint(resident).Value * uint64(os.Getpagesize()),
	}, nil
}
