package host

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"tollbooth/internal/kernfile"
	"tollbooth/internal/parse"
)

func read(t *testing.T, procRoot, sysRoot string) (counters Counters) {
	t.Helper()
	reader, err := Open(procRoot, sysRoot)
	if err != nil {
		t.Fatal(err)
	}
	var buffer kernfile.Buffer
	for range 2 { // the second reading must not add to the first
		if err := reader.Read(&buffer, &counters); err != nil {
			t.Fatal(err)
		}
	}
	return counters
}

func TestEverythingIsRead(t *testing.T) {
	want := Counters{
		CPUs: 2, CPUUserNs: parse.Known(190_030_000_000), CPUNiceNs: parse.Known(100_000_000),
		CPUSystemNs: parse.Known(75_120_000_000), CPUIdleNs: parse.Known(2_253_250_000_000),
		CPUIOWaitNs: parse.Known(10_500_000_000), CPUIRQNs: parse.Known(50_000_000),
		CPUSoftIRQNs: parse.Known(2_020_000_000), CPUStealNs: parse.Known(4_100_000_000),
		ContextSwitches: parse.Known(840_901), MemoryAvailableBytes: parse.Known(24_185_688 << 10),
		PressureCPUSomeUs: parse.Known(6_082_561), PressureMemorySomeUs: parse.Known(0), PressureIOSomeUs: parse.Known(4_600_762),
		FrequencyHz: []uint64{2_600_000_000, 2_600_001_000, 2_600_010_000},
	}
	if got := read(t, "../testdata/proc", "../testdata/sys"); !reflect.DeepEqual(got, want) {
		t.Errorf("counters are %+v\nwant %+v", got, want)
	}
}

func TestAMachineThatOffersLess(t *testing.T) {
	want := Counters{
		CPUs: 1, CPUUserNs: parse.Known(190_030_000_000), CPUNiceNs: parse.Known(100_000_000),
		CPUSystemNs: parse.Known(75_120_000_000), CPUIdleNs: parse.Known(2_253_250_000_000),
		ContextSwitches: parse.Known(840_901),
	}
	got := read(t, "../testdata/old/proc", "../testdata/old/sys")
	if len(got.FrequencyHz) != 0 {
		t.Errorf("frequencies are %v", got.FrequencyHz)
	}
	got.FrequencyHz = nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("counters are %+v\nwant %+v", got, want)
	}
}

func TestAFolderThatIsNotProcIsRejected(t *testing.T) {
	if _, err := Open(t.TempDir(), t.TempDir()); !kernfile.Gone(err) {
		t.Errorf("error is %v", err)
	}
}

// writeFile writes a file below a root and the folders above it.
func writeFile(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWhatCannotBeReadIsLeftOutByItself(t *testing.T) {
	root := t.TempDir()
	writeFile(t, root, "proc/stat", "cpu  1 0 0 0\ncpu0 1 0 0 0\nctxt 7\n")
	writeFile(t, root, "proc/meminfo", "MemAvailable: 5 kB\n")
	writeFile(t, root, "proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=9\n")
	writeFile(t, root, "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "2600000\n")
	// A folder opens, and cannot be read.
	for _, name := range []string{
		"proc/pressure/cpu", "proc/pressure/memory", "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
	} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	want := Counters{
		CPUs: 1, CPUUserNs: parse.Known(10_000_000), CPUNiceNs: parse.Known(0), CPUSystemNs: parse.Known(0),
		CPUIdleNs: parse.Known(0), ContextSwitches: parse.Known(7), MemoryAvailableBytes: parse.Known(5 << 10),
		PressureIOSomeUs: parse.Known(9), FrequencyHz: []uint64{2_600_000_000},
	}
	if got := read(t, filepath.Join(root, "proc"), filepath.Join(root, "sys")); !reflect.DeepEqual(got, want) {
		t.Errorf("counters are %+v\nwant %+v", got, want)
	}
}
