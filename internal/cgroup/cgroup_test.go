package cgroup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tollbooth/internal/kernfile"
	"tollbooth/internal/parse"
)

var (
	id        = strings.Repeat("a1", 32)
	missingID = strings.Repeat("d4", 32)
)

// trees holds every version and cgroup driver; all tests here are passed by all of them.
var trees = map[string]struct{ version, path, cpuFile, memoryFile string }{
	"v1-cgroupfs": {"v1", "docker/" + id, "cpuacct/%s/cpuacct.stat", "memory/%s/memory.max_usage_in_bytes"},
	"v1-systemd":  {"v1", "system.slice/docker-" + id + ".scope", "cpuacct/%s/cpuacct.stat", "memory/%s/memory.max_usage_in_bytes"},
	"v1-nested":   {"v1", "docker/" + strings.Repeat("b2", 32) + "/docker/" + id, "cpuacct/%s/cpuacct.stat", "memory/%s/memory.max_usage_in_bytes"},
	"v2-cgroupfs": {"v2", "docker/" + id, "%s/cpu.stat", "%s/memory.peak"},
	"v2-systemd":  {"v2", "system.slice/docker-" + id + ".scope", "%s/cpu.stat", "%s/memory.peak"},
	"v2-nested":   {"v2", "lab.slice/lab-runs.slice/docker-" + id + ".scope", "%s/cpu.stat", "%s/memory.peak"},
}

func eachTree(t *testing.T, test func(t *testing.T, name, root string)) {
	for name := range trees {
		t.Run(name, func(t *testing.T) { test(t, name, filepath.Join("../testdata/cgroup", name)) })
	}
}

func detect(t *testing.T, root string) Version {
	t.Helper()
	version, err := Detect(root)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func openGroup(t *testing.T, root, path string) Group {
	t.Helper()
	group, err := detect(t, root).Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(group.Close)
	return group
}

// changeable returns a copy of a tree, links included.
func changeable(t *testing.T, root string) string {
	t.Helper()
	folder := t.TempDir()
	if output, err := exec.Command("cp", "-a", root+"/.", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return folder
}

func TestTheVersionIsDetectedAndTheContainerFound(t *testing.T) {
	eachTree(t, func(t *testing.T, name, root string) {
		version := detect(t, root)
		if version.Name() != trees[name].version {
			t.Errorf("version is %s", version.Name())
		}
		finder := NewFinder(version)
		if path := finder.Find(id); path != trees[name].path {
			t.Errorf("path is %q", path)
		}
		if path := finder.Find(missingID); path != "" {
			t.Errorf("found a missing container at %q", path)
		}
	})
}

func TestContainersBelowAParentLearnedFromAnotherAreFound(t *testing.T) {
	eachTree(t, func(t *testing.T, _, root string) {
		root = changeable(t, root)
		version := detect(t, root)
		finder := NewFinder(version)
		first := finder.Find(id)
		second := strings.ReplaceAll(first, id, missingID)
		if err := os.MkdirAll(filepath.Join(version.tree(), second), 0o755); err != nil {
			t.Fatal(err)
		}
		if path := finder.Find(missingID); path != second {
			t.Errorf("path is %q, want %q", path, second)
		}
	})
}

func TestUsage(t *testing.T) {
	eachTree(t, func(t *testing.T, name, root string) {
		group := openGroup(t, root, trees[name].path)
		var buffer kernfile.Buffer
		var usage Usage
		if err := group.ReadUsage(&buffer, &usage); err != nil {
			t.Fatal(err)
		}
		want := Usage{
			CPUUserNs: parse.Known(5_000_000_000), CPUSystemNs: parse.Known(1_500_000_000), CPUUsageNs: parse.Known(6_500_000_000),
			MemoryUsageBytes: parse.Known(200 << 20),
		}
		if usage != want {
			t.Errorf("usage is %+v\nwant %+v", usage, want)
		}
	})
}

func TestSlowUsage(t *testing.T) {
	eachTree(t, func(t *testing.T, name, root string) {
		group := openGroup(t, root, trees[name].path)
		var buffer kernfile.Buffer
		var usage SlowUsage
		if err := group.ReadSlowUsage(&buffer, &usage); err != nil {
			t.Fatal(err)
		}
		want := SlowUsage{
			MemoryRSSBytes: parse.Known(180 << 20), MemoryWorkingSetBytes: parse.Known(192 << 20),
			MemoryPageCacheBytes: parse.Known(20 << 20), MemoryPeakBytes: parse.Known(240 << 20),
			CPUThrottledNs: parse.Known(4_000_000), CPUThrottledPeriods: parse.Known(3),
			BlockReadBytes: parse.Known(8192), BlockWriteBytes: parse.Known(4096),
		}
		if usage != want {
			t.Errorf("usage is %+v\nwant %+v", usage, want)
		}
	})
}

func TestProcessesAndThreads(t *testing.T) {
	eachTree(t, func(t *testing.T, name, root string) {
		group := openGroup(t, root, trees[name].path)
		var buffer kernfile.Buffer
		if got, err := group.ReadProcesses(&buffer); err != nil || string(got) != "4001\n4002\n" {
			t.Errorf("processes are %q, error %v", got, err)
		}
		if got, err := group.ReadThreads(&buffer); err != nil || string(got) != "4001\n4002\n4011\n" {
			t.Errorf("threads are %q, error %v", got, err)
		}
	})
}

func TestAFileThatTheKernelDoesNotOfferIsLeftOut(t *testing.T) {
	eachTree(t, func(t *testing.T, name, root string) {
		root = changeable(t, root)
		path := trees[name].path
		if err := os.Remove(filepath.Join(root, fmt.Sprintf(trees[name].memoryFile, path))); err != nil {
			t.Fatal(err)
		}
		group := openGroup(t, root, path)
		var buffer kernfile.Buffer
		var usage SlowUsage
		if err := group.ReadSlowUsage(&buffer, &usage); err != nil {
			t.Fatal(err)
		}
		if usage.MemoryPeakBytes.Known || !usage.BlockReadBytes.Known {
			t.Errorf("usage is %+v", usage)
		}
	})
}

func TestNoBlockTransferYetIsZeroAndNotLeftOut(t *testing.T) {
	zero := parse.Known(0)
	if read, write := parseIOStat(nil); read != zero || write != zero {
		t.Errorf("v2: %v, %v", read, write)
	}
	if read, write := parseIOServiceBytes([]byte("Total 0\n")); read != zero || write != zero {
		t.Errorf("v1: %v, %v", read, write)
	}
}

func TestAGroupThatIsMissingOrRemovedIsGone(t *testing.T) {
	eachTree(t, func(t *testing.T, name, root string) {
		if _, err := detect(t, root).Open("docker/" + missingID); !kernfile.Gone(err) {
			t.Errorf("opening a missing group: error is %v", err)
		}
		// A file of an exited process ends as one of a removed group does.
		root = changeable(t, root)
		process := exec.Command("sleep", "60")
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(root, fmt.Sprintf(trees[name].cpuFile, trees[name].path))
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(fmt.Sprintf("/proc/%d/oom_score_adj", process.Process.Pid), file); err != nil {
			t.Fatal(err)
		}
		group := openGroup(t, root, trees[name].path)
		var buffer kernfile.Buffer
		var usage Usage
		if err := group.ReadUsage(&buffer, &usage); err != nil {
			t.Fatal(err)
		}
		_ = process.Process.Kill()
		_ = process.Wait()
		if err := group.ReadUsage(&buffer, &usage); !kernfile.Gone(err) {
			t.Errorf("error is %v", err)
		}
	})
}

func TestReadingUsageAllocatesNothing(t *testing.T) {
	eachTree(t, func(t *testing.T, name, root string) {
		group := openGroup(t, root, trees[name].path)
		var buffer kernfile.Buffer
		var usage Usage
		allocations := testing.AllocsPerRun(10, func() {
			if err := group.ReadUsage(&buffer, &usage); err != nil {
				t.Fatal(err)
			}
		})
		if allocations > 0 {
			t.Errorf("%v allocations", allocations)
		}
	})
}

func TestAWorkingSetIsNeverNegative(t *testing.T) {
	if got := workingSet(parse.Known(10), parse.Known(11)); got != parse.Known(0) {
		t.Errorf("working set is %v", got)
	}
	if got := workingSet(parse.Known(10), parse.Count{}); got.Known {
		t.Errorf("working set is %v", got)
	}
}

func TestAFolderWithoutGroupsIsRejected(t *testing.T) {
	folder := t.TempDir()
	if _, err := Detect(folder); err == nil || !strings.Contains(err.Error(), folder) {
		t.Errorf("error is %v", err)
	}
}
