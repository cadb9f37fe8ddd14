package threads

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tollbooth/internal/kernfile"
)

const statusText = "Name:\tjava\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n"

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
