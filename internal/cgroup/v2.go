package cgroup

import (
	"bytes"
	"path/filepath"

	"tollbooth/internal/kernfile"
	"tollbooth/internal/parse"
)

const nsPerUs = 1000

// v2 is control groups version 2: one tree for all controllers.
type v2 struct{ root string }

func (v v2) Name() string { return "v2" }

func (v v2) tree() string { return v.root }

func (v v2) Open(path string) (Group, error) {
	group := &v2Group{}
	at := func(name string) string { return filepath.Join(v.root, path, name) }
	group.sources = []source{
		{&group.processes, at("cgroup.procs")},
		{&group.threads, at("cgroup.threads")},
		{&group.cpuStat, at("cpu.stat")},
		{&group.memory.usage, at("memory.current")},
		{&group.memory.peak, at("memory.peak")},
		{&group.memory.stat, at("memory.stat")},
		{&group.ioStat, at("io.stat")},
	}
	return group, openAll(group.sources)
}

type v2Group struct {
	sources            []source
	processes, threads kernfile.File
	cpuStat            kernfile.File
	memory             memoryFiles
	ioStat             kernfile.File
}

func (g *v2Group) ReadUsage(buffer *kernfile.Buffer, usage *Usage) error {
	cpuStat, err := buffer.Read(&g.cpuStat)
	if err != nil {
		return err
	}
	usage.CPUUserNs = parse.Field(cpuStat, "user_usec").Times(nsPerUs)
	usage.CPUSystemNs = parse.Field(cpuStat, "system_usec").Times(nsPerUs)
	usage.CPUUsageNs = parse.Field(cpuStat, "usage_usec").Times(nsPerUs)
	usage.MemoryUsageBytes, err = readCount(buffer, &g.memory.usage)
	return err
}

func (g *v2Group) ReadSlowUsage(buffer *kernfile.Buffer, usage *SlowUsage) error {
	if err := g.memory.readSlow(buffer, "anon", "file", "inactive_file", usage); err != nil {
		return err
	}
	cpuStat, err := buffer.Read(&g.cpuStat)
	if err != nil {
		return err
	}
	usage.CPUThrottledNs = parse.Field(cpuStat, "throttled_usec").Times(nsPerUs)
	usage.CPUThrottledPeriods = parse.Field(cpuStat, "nr_throttled")
	ioStat, err := buffer.Read(&g.ioStat)
	if err != nil {
		return err
	}
	usage.BlockReadBytes, usage.BlockWriteBytes = parse.Count{}, parse.Count{}
	if g.ioStat.Offered() { // it is empty until the first transfer
		usage.BlockReadBytes, usage.BlockWriteBytes = parseIOStat(ioStat)
	}
	return nil
}

func (g *v2Group) ReadProcesses(buffer *kernfile.Buffer) ([]byte, error) {
	return buffer.ReadList(&g.processes)
}

func (g *v2Group) ReadThreads(buffer *kernfile.Buffer) ([]byte, error) {
	return buffer.ReadList(&g.threads)
}

func (g *v2Group) Close() { closeAll(g.sources) }

// parseIOStat sums lines like "8:0 rbytes=4096 wbytes=0 rios=1 ..." over devices.
func parseIOStat(text []byte) (read, write parse.Count) {
	read, write = parse.Known(0), parse.Known(0)
	for line, rest := parse.Line(text); line != nil; line, rest = parse.Line(rest) {
		for word, tail := parse.Word(line); len(word) > 0; word, tail = parse.Word(tail) {
			if value, found := bytes.CutPrefix(word, []byte("rbytes=")); found {
				read.Value += parse.Uint(value).Value
			} else if value, found := bytes.CutPrefix(word, []byte("wbytes=")); found {
				write.Value += parse.Uint(value).Value
			}
		}
	}
	return read, write
}
