package record

import (
	"os"
	"strings"
	"testing"

	"tollbooth/internal/cgroup"
	"tollbooth/internal/host"
	"tollbooth/internal/hsperf"
	"tollbooth/internal/netdev"
	"tollbooth/internal/parse"
	"tollbooth/internal/self"
	"tollbooth/internal/threads"
)

// The reader's tests, in Python, read the same file.
const golden = "../../fixtures/counters.v1.jsonl"

const t0 = int64(1760000000000000000)

func TestEveryKindOfLineIsAsInTheSharedFixture(t *testing.T) {
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.SplitAfter(string(everyKindOfLine()), "\n")
	for i, line := range strings.SplitAfter(string(want), "\n") {
		if i >= len(got) || got[i] != line {
			t.Fatalf("line %d is\n%s\nwant\n%s", i+1, got[min(i, len(got)-1)], line)
		}
	}
	if strings.Count(string(want), "\n") != len(got)-1 {
		t.Errorf("%d lines, want %d", len(got)-1, strings.Count(string(want), "\n"))
	}
}

func everyKindOfLine() (lines []byte) {
	usage := cgroup.Usage{
		CPUUserNs: parse.Known(5_000_000_000), CPUSystemNs: parse.Known(1_500_000_000), CPUUsageNs: parse.Known(6_500_000_123),
		MemoryUsageBytes: parse.Known(200 << 20),
	}
	app := netdev.Interface{Name: "eth0", Network: "app", Counters: netdev.Counters{
		RxBytes: 1 << 20, RxPackets: 900, RxDropped: 1, TxBytes: 2 << 20, TxPackets: 1800, TxDropped: 2}}
	unnamed := netdev.Interface{Name: "eth1", Counters: netdev.Counters{TxBytes: 70, TxPackets: 1}}
	slow := Slow{
		SlowUsage: cgroup.SlowUsage{
			MemoryWorkingSetBytes: parse.Known(192 << 20), MemoryRSSBytes: parse.Known(180 << 20),
			MemoryPageCacheBytes: parse.Known(20 << 20), MemoryPeakBytes: parse.Known(240 << 20),
			CPUThrottledNs: parse.Known(4_000_000), CPUThrottledPeriods: parse.Known(3),
			BlockReadBytes: parse.Known(8192), BlockWriteBytes: parse.Known(4096)},
		Usage: threads.Usage{Voluntary: 12345, Involuntary: 678, RanNs: threads.PerGroup{
			threads.Other: 50_000_000_000, threads.JIT: 9_400_000_001, threads.GC: 150_000_002, threads.Exporter: 700_000_003}},
		Threads: 30, Processes: 1,
	}
	jvm := hsperf.Counters{
		EdenUsedBytes: parse.Known(12 << 20), EdenCapacityBytes: parse.Known(64 << 20),
		YoungGCCount: parse.Known(21), YoungGCTimeNs: parse.Known(95_000_000), YoungGCLastTNs: parse.Known(uint64(t0 - 700_000_000)),
		FullGCCount: parse.Known(2), FullGCTimeNs: parse.Known(60_000_000),
		JITTimeNs: parse.Known(9_500_000_000), JITCompilations: parse.Known(7321),
		ClassesLoaded: parse.Known(15_432), ThreadsLive: parse.Known(34),
	}
	machine := host.Counters{
		CPUs: 2, CPUUserNs: parse.Known(190_030_000_000), CPUNiceNs: parse.Known(0), CPUSystemNs: parse.Known(75_120_000_000),
		CPUIdleNs: parse.Known(2_253_250_000_000), CPUIOWaitNs: parse.Known(10_500_000_000), CPUIRQNs: parse.Known(0),
		CPUSoftIRQNs: parse.Known(2_020_000_000), CPUStealNs: parse.Known(4_100_000_000), ContextSwitches: parse.Known(840_901),
		MemoryAvailableBytes: parse.Known(24_768_699_392), PressureCPUSomeUs: parse.Known(6_082_561),
		PressureMemorySomeUs: parse.Known(0), PressureIOSomeUs: parse.Known(4_600_762),
		FrequencyHz: []uint64{2_600_000_000, 2_600_000_000},
	}
	observer := Observer{Cost: self.Cost{CPUNs: 8_000_000, RSSBytes: 7 << 20}, Samples: 1}

	lines = AppendHeader(lines, Header{
		IntervalNs: 100_000_000, SlowIntervalNs: 1_000_000_000, Cgroup: "v2", TNs: t0, ObserverVersion: "0.1.0"})
	lines = AppendEvent(lines, t0+100_000, "a1", "appeared", "")
	lines = AppendContainer(lines, t0+200_000, "a1", &usage)
	lines = AppendNetwork(lines, t0+250_000, "a1", &app)
	lines = AppendNetwork(lines, t0+250_000, "a1", &unnamed)
	lines = AppendSlow(lines, t0+300_000, "a1", &slow)
	lines = AppendJVM(lines, t0+350_000, "a1", &jvm)
	lines = AppendHost(lines, t0+400_000, &machine)
	lines = AppendObserver(lines, t0+500_000, observer)

	// A kernel that offers less: what it does not have is left out.
	lines = AppendContainer(lines, t0+100_200_000, "a1", &cgroup.Usage{CPUUsageNs: parse.Known(6_510_000_123)})
	slow.SlowUsage, slow.Voluntary, slow.RanNs = cgroup.SlowUsage{}, 12350, threads.PerGroup{}
	lines = AppendSlow(lines, t0+100_300_000, "a1", &slow)
	jvm = hsperf.Counters{ClassesLoaded: parse.Known(15_432), ThreadsLive: parse.Known(33)}
	lines = AppendJVM(lines, t0+100_350_000, "a1", &jvm)
	machine.CPUUserNs, machine.CPUIdleNs = parse.Known(190_040_000_000), parse.Known(2_253_340_000_000)
	machine.ContextSwitches = parse.Known(840_950)
	machine.PressureCPUSomeUs, machine.PressureMemorySomeUs, machine.PressureIOSomeUs = parse.Count{}, parse.Count{}, parse.Count{}
	machine.FrequencyHz = nil
	lines = AppendHost(lines, t0+100_400_000, &machine)

	lines = AppendEvent(lines, t0+200_000_000, "a1", "gone", "")
	lines = AppendEvent(lines, t0+300_000_000, "a1", "restarted", "")
	lines = AppendEvent(lines, t0+400_000_000, "a1", "read_error", `read "/proc/7/net/dev": permission denied`)
	lines = AppendEvent(lines, t0+500_000_000, "", "targets_changed", "")
	return AppendEvent(lines, t0+600_000_000, "", "stopped", "")
}
