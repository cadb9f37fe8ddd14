package cgroup

import (
	"path/filepath"

	"tollbooth/internal/kernfile"
	"tollbooth/internal/parse"
)

// v1 is control groups version 1: each controller has its own tree below root, with the same layout.
type v1 struct{ root string }

func (v v1) Name() string { return "v1" }

func (v v1) tree() string { return filepath.Join(v.root, "cpuacct") }

func (v v1) Open(path string) (Group, error) {
	group := &v1Group{folder: filepath.Join(v.root, "cpuacct", path)}
	at := func(controller, name string) string { return filepath.Join(v.root, controller, path, name) }
	group.sources = []source{
		{&group.cpuUsage, at("cpuacct", "cpuacct.usage")},
		{&group.cpuSplit, at("cpuacct", "cpuacct.stat")},
		{&group.cpuLimit, at("cpu", "cpu.stat")},
		{&group.memory.usage, at("memory", "memory.usage_in_bytes")},
		{&group.memory.peak, at("memory", "memory.max_usage_in_bytes")},
		{&group.memory.stat, at("memory", "memory.stat")},
		{&group.blockBytes, at("blkio", "blkio.throttle.io_service_bytes")},
	}
	return group, openAll(group.sources)
}

type v1Group struct {
	folder                       string // of the processes and threads
	sources                      []source
	cpuUsage, cpuSplit, cpuLimit kernfile.File
	memory                       memoryFiles
	blockBytes                   kernfile.File
}

func (g *v1Group) ReadUsage(buffer *kernfile.Buffer, usage *Usage) (err error) {
	if usage.CPUUsageNs, err = readCount(buffer, &g.cpuUsage); err != nil {
		return err
	}
	// cpuacct.usage_user and _sys are finer (ns), but they are sampled at clock ticks and were measured up to 19 % above
	// usage on a busy virtual machine. Here the kernel fits both to usage, as version 2 does.
	cpuSplit, err := buffer.Read(&g.cpuSplit)
	if err != nil {
		return err
	}
	usage.CPUUserNs = parse.Field(cpuSplit, "user").Times(parse.NsPerTick)
	usage.CPUSystemNs = parse.Field(cpuSplit, "system").Times(parse.NsPerTick)
	usage.MemoryUsageBytes, err = readCount(buffer, &g.memory.usage)
	return err
}

func (g *v1Group) ReadSlowUsage(buffer *kernfile.Buffer, usage *SlowUsage) error {
	// "total_" counts groups below this one too, as usage_in_bytes does.
	if err := g.memory.readSlow(buffer, "total_rss", "total_cache", "total_inactive_file", usage); err != nil {
		return err
	}
	cpuLimit, err := buffer.Read(&g.cpuLimit)
	if err != nil {
		return err
	}
	usage.CPUThrottledNs = parse.Field(cpuLimit, "throttled_time")
	usage.CPUThrottledPeriods = parse.Field(cpuLimit, "nr_throttled")
	blockBytes, err := buffer.Read(&g.blockBytes)
	if err != nil {
		return err
	}
	usage.BlockReadBytes, usage.BlockWriteBytes = parseIOServiceBytes(blockBytes)
	return nil
}

// Lists of processes and threads are opened again for each reading: from a file that stays open the kernel's version 1
// repeats its last list for up to a second.

func (g *v1Group) ReadProcesses(buffer *kernfile.Buffer) ([]byte, error) {
	return buffer.ReadListAt(filepath.Join(g.folder, "cgroup.procs"))
}

func (g *v1Group) ReadThreads(buffer *kernfile.Buffer) ([]byte, error) {
	return buffer.ReadListAt(filepath.Join(g.folder, "tasks"))
}

func (g *v1Group) Close() { closeAll(g.sources) }

// parseIOServiceBytes sums lines like "8:0 Read 4096" over devices. The file ends with a line "Total", so it is never empty.
func parseIOServiceBytes(text []byte) (read, write parse.Count) {
	if len(text) == 0 {
		return read, write
	}
	read, write = parse.Known(0), parse.Known(0)
	for line, rest := parse.Line(text); line != nil; line, rest = parse.Line(rest) {
		_, line = parse.Word(line)
		operation, value := parse.Word(line)
		switch string(operation) {
		case "Read":
			read.Value += parse.Uint(value).Value
		case "Write":
			write.Value += parse.Uint(value).Value
		}
	}
	return read, write
}
