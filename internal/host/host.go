// Package host reads the machine's counters.
package host

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"tollbooth/internal/kernfile"
	"tollbooth/internal/parse"
)

const (
	bytesPerKB = 1024
	hzPerKHz   = 1000
)

// Counters of the machine since its start; frequency and available memory are current values.
type Counters struct {
	CPUs                                                      uint64 // on line
	CPUUserNs, CPUNiceNs, CPUSystemNs, CPUIdleNs              parse.Count
	CPUIOWaitNs, CPUIRQNs, CPUSoftIRQNs, CPUStealNs           parse.Count
	ContextSwitches                                           parse.Count
	MemoryAvailableBytes                                      parse.Count
	PressureCPUSomeUs, PressureMemorySomeUs, PressureIOSomeUs parse.Count
	FrequencyHz                                               []uint64 // of each CPU on line; empty: not reported
}

// Reader holds the open files.
type Reader struct {
	stat, meminfo                           kernfile.File
	pressureCPU, pressureMemory, pressureIO kernfile.File
	frequencies                             []kernfile.File
}

// Open opens the files below procRoot and sysRoot (the host's /proc and /sys).
func Open(procRoot, sysRoot string) (*Reader, error) {
	r := &Reader{
		pressureCPU:    openPressure(procRoot, "cpu"),
		pressureMemory: openPressure(procRoot, "memory"),
		pressureIO:     openPressure(procRoot, "io"),
		frequencies:    openFrequencies(sysRoot),
	}
	var err error
	if r.stat, err = kernfile.Open(filepath.Join(procRoot, "stat")); err != nil {
		return nil, err
	}
	r.meminfo, err = kernfile.Open(filepath.Join(procRoot, "meminfo"))
	return r, err
}

// openPressure returns the zero File where the kernel has no pressure stall information, or has it switched off
// (then the file is there but does not open).
func openPressure(procRoot, resource string) kernfile.File {
	file, err := kernfile.Open(filepath.Join(procRoot, "pressure", resource))
	if err != nil {
		return kernfile.File{}
	}
	return file
}

// openFrequencies returns no file on machines that do not report CPU frequencies (most virtual ones).
func openFrequencies(sysRoot string) (files []kernfile.File) {
	paths, _ := filepath.Glob(filepath.Join(sysRoot, "devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq"))
	slices.SortFunc(paths, func(a, b string) int { // cpu2 before cpu10
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	for _, path := range paths {
		if file, err := kernfile.Open(path); err == nil {
			files = append(files, file)
		}
	}
	return files
}

// Read reads everything into counters, whose slice is used again. What not every kernel offers is left out where it
// cannot be read.
func (r *Reader) Read(buffer *kernfile.Buffer, counters *Counters) error {
	text, err := buffer.Read(&r.stat)
	if err != nil {
		return err
	}
	parseStat(text, counters)
	if text, err = buffer.Read(&r.meminfo); err != nil {
		return err
	}
	counters.MemoryAvailableBytes = parse.Field(text, "MemAvailable:").Times(bytesPerKB)
	counters.PressureCPUSomeUs = readPressure(buffer, &r.pressureCPU)
	counters.PressureMemorySomeUs = readPressure(buffer, &r.pressureMemory)
	counters.PressureIOSomeUs = readPressure(buffer, &r.pressureIO)
	counters.FrequencyHz = counters.FrequencyHz[:0]
	for i := range r.frequencies {
		// The file of a CPU that went off line is busy.
		if text, err = buffer.Read(&r.frequencies[i]); err == nil {
			counters.FrequencyHz = append(counters.FrequencyHz, parse.Uint(text).Times(hzPerKHz).Value)
		}
	}
	return nil
}

// parseStat reads the first lines of /proc/stat (all CPUs, then each) and its count of context switches.
func parseStat(text []byte, counters *Counters) {
	counters.CPUs = 0
	for line, rest := parse.Line(text); line != nil; line, rest = parse.Line(rest) {
		name, values := parse.Word(line)
		switch {
		case string(name) == "cpu":
			parseCPU(values, counters)
		case strings.HasPrefix(string(name), "cpu"):
			counters.CPUs++
		case string(name) == "ctxt":
			counters.ContextSwitches = parse.Uint(values)
			return // what follows is not recorded
		}
	}
}

func parseCPU(values []byte, counters *Counters) {
	for _, counter := range [...]*parse.Count{
		&counters.CPUUserNs, &counters.CPUNiceNs, &counters.CPUSystemNs, &counters.CPUIdleNs,
		&counters.CPUIOWaitNs, &counters.CPUIRQNs, &counters.CPUSoftIRQNs, &counters.CPUStealNs,
	} {
		var value []byte
		value, values = parse.Word(values)
		*counter = parse.Uint(value).Times(parse.NsPerTick)
	}
}

func readPressure(buffer *kernfile.Buffer, file *kernfile.File) parse.Count {
	text, err := buffer.Read(file)
	if err != nil {
		return parse.Count{}
	}
	return parsePressure(text)
}

// parsePressure returns the time for which some task waited: "total=" in the first line, which begins with "some".
func parsePressure(text []byte) parse.Count {
	line, _ := parse.Line(text)
	_, total, _ := bytes.Cut(line, []byte("total="))
	return parse.Uint(total)
}
