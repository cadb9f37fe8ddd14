package hsperf

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"tollbooth/internal/parse"
)

// read parses a file and reads its counters.
func read(t *testing.T, file []byte) (c Counters) {
	t.Helper()
	layout, err := Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	layout.values(file[layout.start:layout.end], &c)
	return c
}

// Both files are from an idle JDK 25. Its management beans reported the same values, in ms:
// collections 7 (6 ms) and 1 (20 ms), the last young one at 1795278979320, JIT 65 ms; collections 8 (11 ms) and 1 (7 ms), the
// last young one at 1795278987787, JIT 71 ms; 953 classes, 6 threads.
func TestRealFilesHoldWhatTheJVMSaidOfItself(t *testing.T) {
	for path, want := range map[string]Counters{
		"../testdata/proc/4001/root/tmp/hsperfdata_tollbooth/7": { // serial collector
			EdenUsedBytes: parse.Known(0), EdenCapacityBytes: parse.Known(35_782_656),
			YoungGCCount: parse.Known(7), YoungGCTimeNs: parse.Known(6_950_522),
			YoungGCLastTNs: parse.Known(1_795_278_979_320_000_087),
			FullGCCount:    parse.Known(1), FullGCTimeNs: parse.Known(20_083_488),
			JITTimeNs: parse.Known(66_025_499), JITCompilations: parse.Known(113),
			ClassesLoaded: parse.Known(953), ThreadsLive: parse.Known(6),
		},
		"../testdata/hsperfdata/jdk25-g1": {
			EdenUsedBytes: parse.Known(1 << 20), EdenCapacityBytes: parse.Known(40 << 20),
			YoungGCCount: parse.Known(8), YoungGCTimeNs: parse.Known(11_880_019),
			YoungGCLastTNs: parse.Known(1_795_278_987_787_346_008),
			FullGCCount:    parse.Known(1), FullGCTimeNs: parse.Known(7_319_849),
			JITTimeNs: parse.Known(72_130_332), JITCompilations: parse.Known(140),
			ClassesLoaded: parse.Known(953), ThreadsLive: parse.Known(6),
		},
	} {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, file); got != want {
			t.Errorf("%s: counters are %+v\nwant %+v", path, got, want)
		}
	}
}

func without(names ...string) []entry {
	return slices.DeleteFunc(slices.Clone(allEntries), func(e entry) bool { return slices.Contains(names, e.name) })
}

func TestCountersAreReadInEitherByteOrder(t *testing.T) {
	want := Counters{
		EdenUsedBytes: parse.Known(3 << 20), EdenCapacityBytes: parse.Known(16 << 20),
		YoungGCCount: parse.Known(5), YoungGCTimeNs: parse.Known(3_500_000_000),
		YoungGCLastTNs: parse.Known(1_760_000_004_500_000_000),
		FullGCCount:    parse.Known(2), FullGCTimeNs: parse.Known(5),
		JITTimeNs: parse.Known(2_000_000_000), JITCompilations: parse.Known(1234),
		ClassesLoaded: parse.Known(1000), ThreadsLive: parse.Known(31),
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if got := read(t, write(order, allEntries)); got != want {
			t.Errorf("%v: counters are %+v\nwant %+v", order, got, want)
		}
	}
}

func TestACounterThatIsMissingIsNotKnown(t *testing.T) {
	got := read(t, write(binary.LittleEndian, without(
		"sun.gc.generation.0.space.0.used", "sun.ci.totalCompiles", "java.cls.loadedClasses")))
	if got.EdenUsedBytes.Known || got.JITCompilations.Known || got.ClassesLoaded.Known {
		t.Errorf("counters are %+v", got)
	}
	if got.EdenCapacityBytes != parse.Known(16<<20) || got.ThreadsLive != parse.Known(31) {
		t.Errorf("counters are %+v", got)
	}
}

func TestClassesAreCountedWithoutASharedArchiveToo(t *testing.T) {
	got := read(t, write(binary.LittleEndian, without("java.cls.sharedLoadedClasses")))
	if got.ClassesLoaded != parse.Known(100) {
		t.Errorf("classes are %v", got.ClassesLoaded)
	}
}

func TestACollectionThatNeverWasHasNoTime(t *testing.T) {
	const name = "sun.gc.collector.0.lastEntryTime"
	for what, entries := range map[string][]entry{
		"none so far":             append(without(name), entry{name, unitTicks, 0}),
		"a JVM without beginning": without("sun.rt.createVmBeginTime"),
	} {
		if got := read(t, write(binary.LittleEndian, entries)); got.YoungGCLastTNs.Known || !got.YoungGCCount.Known {
			t.Errorf("%s: counters are %+v", what, got)
		}
	}
}

func TestTicksOfNoLengthAreNoTime(t *testing.T) {
	entries := append(without("sun.os.hrt.frequency"), entry{"sun.os.hrt.frequency", unitHertz, 0})
	got := read(t, write(binary.LittleEndian, entries))
	if got.YoungGCTimeNs.Known || got.FullGCTimeNs.Known || got.JITTimeNs.Known || !got.YoungGCCount.Known {
		t.Errorf("counters are %+v", got)
	}
}

func TestAJVMThatIsStillInItsAgentIsNotReady(t *testing.T) {
	file := write(binary.LittleEndian, without("sun.os.hrt.frequency"))
	if _, err := Parse(file); !errors.Is(err, ErrNotReady) {
		t.Errorf("error is %v", err)
	}
}

func TestLongTimesDoNotOverflow(t *testing.T) {
	const tenYearsS = 10 * 365 * 24 * 3600
	got := read(t, write(binary.LittleEndian, []entry{
		{"sun.os.hrt.frequency", unitHertz, 3_000_000_000},
		{"java.ci.totalTime", unitTicks, tenYearsS * 3_000_000_000},
	}))
	if got.JITTimeNs != parse.Known(tenYearsS*1_000_000_000) {
		t.Errorf("time is %v", got.JITTimeNs)
	}
}

func TestACounterInAnotherUnitOrOfAnotherTypeIsNotTaken(t *testing.T) {
	file := write(binary.LittleEndian, []entry{
		{"java.ci.totalTime", unitEvents, 1}, {"java.threads.live", unitNone, 2}, {"sun.ci.totalCompiles", unitEvents, 3},
		{"sun.os.hrt.frequency", unitHertz, 1}})
	const first = prologueBytes
	second := first + int(binary.LittleEndian.Uint32(file[first:]))
	file[second+12] = 'B'
	got := read(t, file)
	if want := (Counters{JITCompilations: parse.Known(3)}); got != want {
		t.Errorf("counters are %+v", got)
	}
}

func TestAJVMThatIsStartingIsNotReady(t *testing.T) {
	starting := write(binary.LittleEndian, allEntries)
	starting[7] = 0
	for name, file := range map[string][]byte{
		"an empty file": nil, "a file of zeros": make([]byte, 32768), "a file that is not accessible": starting,
	} {
		if _, err := Parse(file); !errors.Is(err, ErrNotReady) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestAMalformedFileIsRejectedWithWhatIsWrong(t *testing.T) {
	for want, spoil := range map[string]func([]byte) []byte{
		"is cut off after 31 bytes":       func(file []byte) []byte { return file[:31] },
		"begins with 0xcafebabe":          func(file []byte) []byte { binary.BigEndian.PutUint32(file, 0xcafebabe); return file },
		"unknown byte order 7":            func(file []byte) []byte { file[4] = 7; return file },
		"version 3.0":                     func(file []byte) []byte { file[5] = 3; return file },
		"entry 1 of 16: would begin":      func(file []byte) []byte { binary.LittleEndian.PutUint32(file[24:], 1<<31); return file },
		"entry 2 of 16: would be 19":      func(file []byte) []byte { setLength(file, 1, 19); return file },
		"entry 16 of 16: would begin":     func(file []byte) []byte { return file[:offsetOf(file, 15)] },
		"entry 16 of 16: would be 48":     func(file []byte) []byte { return file[:offsetOf(file, 15)+47] },
		"entry 17 of 17: would be 0":      func(file []byte) []byte { binary.LittleEndian.PutUint32(file[28:], 17); return file },
		"its name would be at 4294967295": func(file []byte) []byte { binary.LittleEndian.PutUint32(file[36:], 1<<32-1); return file },
		"none of the required counters":   func(file []byte) []byte { binary.LittleEndian.PutUint32(file[28:], 2); return file },
	} {
		_, err := Parse(spoil(write(binary.LittleEndian, allEntries)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}

// offsetOf returns where an entry begins.
func offsetOf(file []byte, number int) int {
	at := prologueBytes
	for range number {
		at += int(binary.LittleEndian.Uint32(file[at:]))
	}
	return at
}

func setLength(file []byte, number, length int) {
	binary.LittleEndian.PutUint32(file[offsetOf(file, number):], uint32(length))
}

func TestNoFileMakesTheReaderLookOutsideOfIt(t *testing.T) {
	whole := write(binary.LittleEndian, allEntries)
	for at := range whole {
		spoiled := slices.Clone(whole)
		spoiled[at] ^= 0xff
		for _, file := range [][]byte{whole[:at], spoiled} {
			layout, err := Parse(file)
			if err == nil {
				var c Counters
				layout.values(file[layout.start:layout.end], &c)
			}
		}
	}
}
