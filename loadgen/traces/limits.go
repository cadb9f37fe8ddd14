package main

import (
	"fmt"
	"syscall"
)

// Files that are open besides the connections to the targets: records, ports, and what comes back.
const otherFiles = 256

// openFilesLimit is how many files the program may have open. Go raises it to the hard limit at the start.
func openFilesLimit() uint64 {
	var limit syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) // fails for an unknown resource only
	return limit.Cur
}

// checkOpenFiles checks that so many connections can be open.
func checkOpenFiles(connections int, limit uint64) error {
	if needed := uint64(connections + otherFiles); needed > limit {
		return fmt.Errorf("%d connections need %d open files, and the limit is %d (RLIMIT_NOFILE: ulimit -Hn, "+
			"or ulimits.nofile of the container)", connections, needed, limit)
	}
	return nil
}
