// Package cgroup finds the control groups of containers and reads their counters.
//
// The kernel has two versions of them. Each is one implementation of Version and Group, and both pass the same tests.
package cgroup

import (
	"errors"
	"os"
	"path/filepath"

	"tollbooth/internal/kernfile"
	"tollbooth/internal/parse"
)

// Usage is what is read at every sample.
type Usage struct {
	CPUUserNs, CPUSystemNs, CPUUsageNs parse.Count
	MemoryUsageBytes                   parse.Count
}

// SlowUsage is read at the slow interval: it is expensive for the kernel, changes rarely, or is a maximum.
type SlowUsage struct {
	// MemoryWorkingSetBytes is usage less inactive file pages: memory that cannot be reclaimed without cost.
	MemoryWorkingSetBytes               parse.Count
	MemoryRSSBytes                      parse.Count // anonymous pages
	MemoryPageCacheBytes                parse.Count // pages of files, those of tmpfs included
	MemoryPeakBytes                     parse.Count // the highest usage since the container's start, page cache included
	CPUThrottledNs, CPUThrottledPeriods parse.Count
	BlockReadBytes, BlockWriteBytes     parse.Count
}

// Version is one version of control groups below a mount point.
type Version interface {
	// Name is "v1" or "v2".
	Name() string
	// tree is the folder that is searched for containers' groups.
	tree() string
	// Open opens the counters of the group at a path relative to the mount point (or to each controller's).
	Open(path string) (Group, error)
}

// Group is the open counters of one container.
type Group interface {
	ReadUsage(*kernfile.Buffer, *Usage) error
	ReadSlowUsage(*kernfile.Buffer, *SlowUsage) error
	// ReadProcesses and ReadThreads return the ids in the group, one to a line, valid until the buffer's next read.
	ReadProcesses(*kernfile.Buffer) ([]byte, error)
	ReadThreads(*kernfile.Buffer) ([]byte, error)
	Close()
}

// Detect returns the version that is mounted at root. A host with both (systemd's hybrid mode) has its controllers in version 1.
func Detect(root string) (Version, error) {
	if exists(filepath.Join(root, "cgroup.controllers")) {
		return v2{root}, nil
	}
	if exists(filepath.Join(root, "cpuacct")) {
		return v1{root}, nil
	}
	return nil, errors.New(root + " holds no control groups: give the folder where the host's /sys/fs/cgroup is mounted")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// source is a file of a group and where it is opened.
type source struct {
	file *kernfile.File
	path string
}

// openAll opens the files that this kernel offers. The first is one that every group has: without it there is no group.
func openAll(sources []source) (err error) {
	*sources[0].file, err = kernfile.Open(sources[0].path)
	for _, s := range sources[1:] {
		if err == nil {
			*s.file, err = kernfile.OpenOptional(s.path)
		}
	}
	if err != nil {
		closeAll(sources)
	}
	return err
}

func closeAll(sources []source) {
	for _, s := range sources {
		s.file.Close()
	}
}

// readCount reads a file that holds one number.
func readCount(buffer *kernfile.Buffer, file *kernfile.File) (parse.Count, error) {
	text, err := buffer.Read(file)
	return parse.Uint(text), err
}

// memoryFiles are a group's memory counters; the versions name the files differently, and the fields of stat.
type memoryFiles struct{ usage, peak, stat kernfile.File }

// readSlow reads the memory counters of the slow interval. The fields of stat are given by name.
func (m *memoryFiles) readSlow(buffer *kernfile.Buffer, rss, pageCache, inactiveFile string, slow *SlowUsage) (err error) {
	if slow.MemoryPeakBytes, err = readCount(buffer, &m.peak); err != nil {
		return err
	}
	usage, err := readCount(buffer, &m.usage)
	if err != nil {
		return err
	}
	stat, err := buffer.Read(&m.stat)
	if err != nil {
		return err
	}
	slow.MemoryRSSBytes = parse.Field(stat, rss)
	slow.MemoryPageCacheBytes = parse.Field(stat, pageCache)
	slow.MemoryWorkingSetBytes = workingSet(usage, parse.Field(stat, inactiveFile))
	return nil
}

// workingSet is usage less inactive file pages. The two are read one after the other, so the difference can be below zero.
func workingSet(usage, inactiveFile parse.Count) parse.Count {
	if !usage.Known || !inactiveFile.Known {
		return parse.Count{}
	}
	return parse.Known(usage.Value - min(usage.Value, inactiveFile.Value))
}
