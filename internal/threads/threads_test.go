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
	folder := filepath.Join(root, fmt.Sprint(id))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(statusText, voluntary, involuntary)
	if err := os.WriteFile(filepath.Join(folder, "status"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, counter *Counter, list string, want Switches) {
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
	expect(t, counter, "4001\n4002\n4011\n", Switches{Voluntary: 123, Involuntary: 12})
}

func TestSumsDoNotFallWhenAThreadEnds(t *testing.T) {
	root := t.TempDir()
	setThread(t, root, 1, 10, 1)
	setThread(t, root, 2, 20, 2)
	counter := NewCounter(root)
	t.Cleanup(counter.Close)
	expect(t, counter, "1\n2\n", Switches{30, 3})
	setThread(t, root, 1, 11, 1)
	expect(t, counter, "1\n", Switches{31, 3})
	setThread(t, root, 2, 5, 0) // another thread that was given the same id
	expect(t, counter, "1\n2\n", Switches{36, 3})
}

func TestAThreadIsReadAgainOnceItHasRun(t *testing.T) {
	for ranNs, want := range map[int][2]uint64{
		5_000_000: {10, 12}, // schedstat shows whether it ran
		0:         {11, 12}, // there is no account: it is read each time
	} {
		root := t.TempDir()
		setThread(t, root, 1, 10, 0)
		setRan(t, root, 1, ranNs)
		counter := NewCounter(root)
		t.Cleanup(counter.Close)
		expect(t, counter, "1\n", Switches{10, 0})
		setThread(t, root, 1, 11, 0) // which a thread that has not run would not do: it shows whether status is read
		expect(t, counter, "1\n", Switches{want[0], 0})
		setThread(t, root, 1, 12, 0)
		setRan(t, root, 1, ranNs+1)
		expect(t, counter, "1\n", Switches{want[1], 0})
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
