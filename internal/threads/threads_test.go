package threads

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"tollbooth/internal/kernfile"
	"tollbooth/internal/parse"
)

const statusText = "Name:\tjava\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n"

// setRan sets how long a thread ran.
func setRan(t *testing.T, root string, id, ranNs int) {
	t.Helper()
	text := fmt.Sprintf("%d 1000 1\n", ranNs)
	if err := os.WriteFile(filepath.Join(root, fmt.Sprint(id), "schedstat"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func setThread(t *testing.T, root string, id, voluntary, involuntary int) {
	t.Helper()
	setStatus(t, root, id, fmt.Sprintf(statusText, voluntary, involuntary))
}

func setStatus(t *testing.T, root string, id int, text string) {
	t.Helper()
	folder := filepath.Join(root, fmt.Sprint(id))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "status"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, counter *Counter, list string, want Usage) {
	t.Helper()
	var buffer kernfile.Buffer
	got, err := counter.Update(&buffer, []byte(list))
	if err != nil || got != want {
		t.Errorf("with threads %q the sums are %v, error %v; want %v", list, got, err, want)
	}
}

func TestSumsOverThreads(t *testing.T) {
	counter := NewCounter("../testdata/proc")
	t.Cleanup(counter.Close)
	expect(t, counter, "4001\n4002\n4011\n", Usage{Voluntary: 123, Involuntary: 12, RanNs: PerGroup{JIT: 2_500_000_000}})
}

func TestSumsDoNotFallWhenAThreadEnds(t *testing.T) {
	root := t.TempDir()
	setThread(t, root, 1, 10, 1)
	setThread(t, root, 2, 20, 2)
	counter := NewCounter(root)
	t.Cleanup(counter.Close)
	expect(t, counter, "1\n2\n", Usage{Voluntary: 30, Involuntary: 3})
	setThread(t, root, 1, 11, 1)
	expect(t, counter, "1\n", Usage{Voluntary: 31, Involuntary: 3})
	setThread(t, root, 2, 5, 0) // another thread that was given the same id
	expect(t, counter, "1\n2\n", Usage{Voluntary: 36, Involuntary: 3})
}

func TestAThreadIsReadAgainOnceItHasRun(t *testing.T) {
	ran := func(voluntary uint64, ns int) Usage {
		return Usage{Voluntary: voluntary, RanNs: PerGroup{Other: uint64(ns)}}
	}
	for ranNs, want := range map[int][2]uint64{
		5_000_000: {10, 12}, // schedstat shows whether it ran
		0:         {11, 12}, // there is no account: it is read each time
	} {
		root := t.TempDir()
		setThread(t, root, 1, 10, 0)
		setRan(t, root, 1, ranNs)
		counter := NewCounter(root)
		t.Cleanup(counter.Close)
		expect(t, counter, "1\n", ran(10, ranNs))
		setThread(t, root, 1, 11, 0) // which a thread that has not run would not do: it shows whether status is read
		expect(t, counter, "1\n", ran(want[0], ranNs))
		setThread(t, root, 1, 12, 0)
		setRan(t, root, 1, ranNs+1)
		expect(t, counter, "1\n", ran(want[1], ranNs+1))
	}
}

func TestThatAThreadRanIsSeenInARealOne(t *testing.T) {
	counter := NewCounter("/proc")
	t.Cleanup(counter.Close)
	var buffer kernfile.Buffer
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	self := []byte(fmt.Sprintln(syscall.Gettid()))
	before, err := counter.Update(&buffer, self)
	if err != nil {
		t.Fatal(err)
	}
	_ = syscall.Nanosleep(&syscall.Timespec{Nsec: 1_000_000}, nil) // a signal may end it early: it has slept all the same
	after, err := counter.Update(&buffer, self)
	if err != nil || after.Voluntary <= before.Voluntary {
		t.Errorf("%v before a sleep, %v after, error %v", before, after, err)
	}
}

func TestAThreadThatEndsBetweenListingAndReadingKeepsItsLastValue(t *testing.T) {
	process := exec.Command("sleep", "60")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	counter := NewCounter("/proc")
	t.Cleanup(counter.Close)
	var buffer kernfile.Buffer
	list := []byte(fmt.Sprintln(process.Process.Pid))
	before, err := counter.Update(&buffer, list)
	if err != nil {
		t.Fatal(err)
	}
	_ = process.Process.Kill()
	_ = process.Wait()
	expect(t, counter, string(list), before)
}

// setNamed sets a thread's name and how long it ran.
func setNamed(t *testing.T, root string, id int, name string, ranNs int) {
	t.Helper()
	setStatus(t, root, id, fmt.Sprintf("Name:\t%s\nState:\tS (sleeping)\n", name))
	setRan(t, root, id, ranNs)
}

func TestATimeBelongsToTheGroupOfTheThreadsName(t *testing.T) {
	for name, want := range map[string]Group{
		"C1 CompilerThre": JIT, "C2 CompilerThre": JIT,
		"VM Thread": GC, "GC Thread#0": GC, "G1 Conc#0": GC, "G1 Main Marker": GC, "G1 Refine#0": GC, "G1 Service": GC,
		"ZWorkerYoung#0": GC, "ZDriverMinor": GC, "Shenandoah Cont": GC,
		"BatchSpanProces": Exporter, "okhttp-dispatch": Exporter, "OkHttp http://j": Exporter, "OkHttp TaskRunn": Exporter,
		"Okio Watchdog": Exporter, "prometheus-http": Exporter, "AsyncReporter{o": Exporter, "HttpClient-1-Se": Exporter,
		"span-recorder": Exporter, "java": Other, "VM Periodic Tas": Other, "Common-Cleaner": Other,
		"http-nio-8080-P": Other, "ForkJoinPool-1-": Other, "grpc-default-ex": Other, "envoy": Other,
	} {
		root := t.TempDir()
		setNamed(t, root, 1, name, 7)
		counter := NewCounter(root)
		t.Cleanup(counter.Close)
		var perGroup PerGroup
		perGroup[want] = 7
		expect(t, counter, "1\n", Usage{RanNs: perGroup})
	}
}

func TestATimeDoesNotFallWhenAThreadEndsOrIsRenamed(t *testing.T) {
	root := t.TempDir()
	setNamed(t, root, 1, "C1 CompilerThre", 10)
	setNamed(t, root, 2, "java", 20)
	counter := NewCounter(root)
	t.Cleanup(counter.Close)
	expect(t, counter, "1\n2\n", Usage{RanNs: PerGroup{JIT: 10, Other: 20}})
	setNamed(t, root, 2, "GC Thread#0", 25)
	expect(t, counter, "2\n", Usage{RanNs: PerGroup{JIT: 10, Other: 20, GC: 5}})
	setNamed(t, root, 1, "C1 CompilerThre", 3) // another thread that was given the same id
	expect(t, counter, "1\n2\n", Usage{RanNs: PerGroup{JIT: 13, Other: 20, GC: 5}})
}

func TestTimesAreKnownOnceAThreadOfAGroupRan(t *testing.T) {
	for ran, want := range map[PerGroup]parse.Count{
		{}:                    {}, // the kernel does not count
		{Other: 9}:            {}, // no JVM
		{Other: 9, GC: 1}:     parse.Known(0),
		{JIT: 5, Exporter: 2}: parse.Known(5),
	} {
		if got := (&Usage{RanNs: ran}).CPUNs(JIT); got != want {
			t.Errorf("of %v the compilers' time is %v, want %v", ran, got, want)
		}
	}
}

func TestTheTimeOfARealThread(t *testing.T) {
	runtime.LockOSThread() // for good: the renamed thread ends with the test
	id := syscall.Gettid()
	if err := os.WriteFile(fmt.Sprintf("/proc/self/task/%d/comm", id), []byte("C2 CompilerThread0"), 0); err != nil {
		t.Fatal(err)
	}
	counter := NewCounter("/proc")
	t.Cleanup(counter.Close)
	var buffer kernfile.Buffer
	self := []byte(fmt.Sprintln(id))
	before, err := counter.Update(&buffer, self)
	if err != nil {
		t.Fatal(err)
	}
	const burnt = 20_000_000
	for from := cpuNs(t); cpuNs(t) < from+burnt; {
	}
	after, err := counter.Update(&buffer, self)
	if grown := after.RanNs[JIT] - before.RanNs[JIT]; err != nil || grown < burnt {
		t.Errorf("%d ns of a compiler thread that ran for more than %d, error %v", grown, burnt, err)
	}
}

// cpuNs returns for how long the calling thread ran.
func cpuNs(t *testing.T) int64 {
	t.Helper()
	var usage syscall.Rusage
	const ofThread = 1 // RUSAGE_THREAD
	if err := syscall.Getrusage(ofThread, &usage); err != nil {
		t.Fatal(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
