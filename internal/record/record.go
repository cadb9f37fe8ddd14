// Package record writes counters.jsonl and collector.jsonl, files that analysis reads. docs/reference/formats.md describes them.
//
// Lines are appended to a byte slice by hand, which costs a tenth of encoding/json and allocates nothing.
package record

import (
	"encoding/json"
	"strconv"

	"tollbooth/internal/cgroup"
	"tollbooth/internal/host"
	"tollbooth/internal/hsperf"
	"tollbooth/internal/netdev"
	"tollbooth/internal/parse"
	"tollbooth/internal/self"
	"tollbooth/internal/threads"
)

// Header is the first line.
type Header struct {
	IntervalNs, SlowIntervalNs int64
	Cgroup                     string
	TNs                        int64
	ObserverVersion            string
}

// Slow holds a container's counters of the slow interval.
type Slow struct {
	cgroup.SlowUsage
	threads.Usage
	Threads, Processes uint64
}

// Observer holds the observer's own counters and cost.
type Observer struct {
	self.Cost
	Samples, Errors, MissedTicks uint64
}

// AppendHeader appends the first line.
func AppendHeader(line []byte, h Header) []byte {
	line = append(line, `{"format":"tollbooth.counters","version":1`...)
	line = appendUint(line, "interval_ns", uint64(h.IntervalNs))
	line = appendUint(line, "slow_interval_ns", uint64(h.SlowIntervalNs))
	line = appendString(line, "cgroup", h.Cgroup)
	line = appendUint(line, "t_ns", uint64(h.TNs))
	line = appendString(line, "observer_version", h.ObserverVersion)
	return end(line)
}

// AppendContainer appends a container's counters of every sample.
func AppendContainer(line []byte, tNs int64, name string, u *cgroup.Usage) []byte {
	line = begin(line, "container", tNs)
	line = appendString(line, "name", name)
	line = appendCount(line, "cpu_user_ns", u.CPUUserNs)
	line = appendCount(line, "cpu_system_ns", u.CPUSystemNs)
	line = appendCount(line, "cpu_usage_ns", u.CPUUsageNs)
	line = appendCount(line, "memory_usage_bytes", u.MemoryUsageBytes)
	return end(line)
}

// AppendNetwork appends one network interface of a container.
func AppendNetwork(line []byte, tNs int64, name string, i *netdev.Interface) []byte {
	line = begin(line, "network", tNs)
	line = appendString(line, "name", name)
	line = appendString(line, "interface", i.Name)
	if i.Network != "" {
		line = appendString(line, "network", i.Network)
	}
	line = appendUint(line, "rx_bytes", i.RxBytes)
	line = appendUint(line, "rx_packets", i.RxPackets)
	line = appendUint(line, "rx_dropped", i.RxDropped)
	line = appendUint(line, "tx_bytes", i.TxBytes)
	line = appendUint(line, "tx_packets", i.TxPackets)
	line = appendUint(line, "tx_dropped", i.TxDropped)
	return end(line)
}

// AppendSlow appends a container's counters of the slow interval.
func AppendSlow(line []byte, tNs int64, name string, s *Slow) []byte {
	line = begin(line, "slow", tNs)
	line = appendString(line, "name", name)
	line = appendCount(line, "memory_working_set_bytes", s.MemoryWorkingSetBytes)
	line = appendCount(line, "memory_rss_bytes", s.MemoryRSSBytes)
	line = appendCount(line, "memory_page_cache_bytes", s.MemoryPageCacheBytes)
	line = appendCount(line, "memory_peak_bytes", s.MemoryPeakBytes)
	line = appendCount(line, "cpu_throttled_ns", s.CPUThrottledNs)
	line = appendCount(line, "cpu_throttled_periods", s.CPUThrottledPeriods)
	line = appendCount(line, "block_read_bytes", s.BlockReadBytes)
	line = appendCount(line, "block_write_bytes", s.BlockWriteBytes)
	line = appendUint(line, "context_switches_voluntary", s.Voluntary)
	line = appendUint(line, "context_switches_involuntary", s.Involuntary)
	line = appendCount(line, "jit_cpu_ns", s.CPUNs(threads.JIT))
	line = appendCount(line, "gc_cpu_ns", s.CPUNs(threads.GC))
	line = appendCount(line, "exporter_cpu_ns", s.CPUNs(threads.Exporter))
	line = appendUint(line, "threads", s.Threads)
	line = appendUint(line, "processes", s.Processes)
	return end(line)
}

// AppendJVM appends the counters that a container's JVM reports.
func AppendJVM(line []byte, tNs int64, name string, j *hsperf.Counters) []byte {
	line = begin(line, "jvm", tNs)
	line = appendString(line, "name", name)
	line = appendCount(line, "eden_used_bytes", j.EdenUsedBytes)
	line = appendCount(line, "eden_capacity_bytes", j.EdenCapacityBytes)
	line = appendCount(line, "young_gc_count", j.YoungGCCount)
	line = appendCount(line, "young_gc_time_ns", j.YoungGCTimeNs)
	line = appendCount(line, "young_gc_last_t_ns", j.YoungGCLastTNs)
	line = appendCount(line, "full_gc_count", j.FullGCCount)
	line = appendCount(line, "full_gc_time_ns", j.FullGCTimeNs)
	line = appendCount(line, "jit_time_ns", j.JITTimeNs)
	line = appendCount(line, "jit_compilations", j.JITCompilations)
	line = appendCount(line, "classes_loaded", j.ClassesLoaded)
	line = appendCount(line, "threads_live", j.ThreadsLive)
	return end(line)
}

// AppendHost appends the machine's counters.
func AppendHost(line []byte, tNs int64, h *host.Counters) []byte {
	line = begin(line, "host", tNs)
	line = appendUint(line, "cpus", h.CPUs)
	line = appendCount(line, "cpu_user_ns", h.CPUUserNs)
	line = appendCount(line, "cpu_nice_ns", h.CPUNiceNs)
	line = appendCount(line, "cpu_system_ns", h.CPUSystemNs)
	line = appendCount(line, "cpu_idle_ns", h.CPUIdleNs)
	line = appendCount(line, "cpu_iowait_ns", h.CPUIOWaitNs)
	line = appendCount(line, "cpu_irq_ns", h.CPUIRQNs)
	line = appendCount(line, "cpu_softirq_ns", h.CPUSoftIRQNs)
	line = appendCount(line, "cpu_steal_ns", h.CPUStealNs)
	line = appendCount(line, "context_switches", h.ContextSwitches)
	line = appendCount(line, "memory_available_bytes", h.MemoryAvailableBytes)
	line = appendCount(line, "pressure_cpu_some_us", h.PressureCPUSomeUs)
	line = appendCount(line, "pressure_memory_some_us", h.PressureMemorySomeUs)
	line = appendCount(line, "pressure_io_some_us", h.PressureIOSomeUs)
	if len(h.FrequencyHz) > 0 {
		line = appendList(line, "frequency_hz", h.FrequencyHz)
	}
	return end(line)
}

// AppendObserver appends the observer's own counters and cost.
func AppendObserver(line []byte, tNs int64, o Observer) []byte {
	line = begin(line, "observer", tNs)
	line = appendUint(line, "cpu_ns", o.CPUNs)
	line = appendUint(line, "rss_bytes", o.RSSBytes)
	line = appendUint(line, "samples", o.Samples)
	line = appendUint(line, "errors", o.Errors)
	line = appendUint(line, "missed_ticks", o.MissedTicks)
	return end(line)
}

// AppendEvent appends an event; name is empty if it is not about one container, detail if there is nothing to add.
func AppendEvent(line []byte, tNs int64, name, event, detail string) []byte {
	line = begin(line, "event", tNs)
	if name != "" {
		line = appendString(line, "name", name)
	}
	line = appendString(line, "event", event)
	if detail != "" {
		line = appendString(line, "detail", detail)
	}
	return end(line)
}

func begin(line []byte, kind string, tNs int64) []byte {
	line = append(line, `{"kind":"`...)
	line = append(line, kind...)
	line = append(line, '"')
	return appendUint(line, "t_ns", uint64(tNs))
}

func end(line []byte) []byte { return append(line, "}\n"...) }

func appendKey(line []byte, key string) []byte {
	line = append(line, ',', '"')
	line = append(line, key...)
	return append(line, '"', ':')
}

func appendUint(line []byte, key string, value uint64) []byte {
	return strconv.AppendUint(appendKey(line, key), value, 10)
}

// appendCount omits a counter that the kernel does not offer, because it is not 0.
func appendCount(line []byte, key string, count parse.Count) []byte {
	if !count.Known {
		return line
	}
	return appendUint(line, key, count.Value)
}

func appendList(line []byte, key string, values []uint64) []byte {
	line = append(appendKey(line, key), '[')
	for i, value := range values {
		if i > 0 {
			line = append(line, ',')
		}
		line = strconv.AppendUint(line, value, 10)
	}
	return append(line, ']')
}

func appendString(line []byte, key, value string) []byte {
	line = appendKey(line, key)
	if !isPlain(value) {
		quoted, _ := json.Marshal(value) // a string always can be
		return append(line, quoted...)
	}
	line = append(line, '"')
	line = append(line, value...)
	return append(line, '"')
}

// isPlain reports whether a string needs no escapes, which holds for names.
func isPlain(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
