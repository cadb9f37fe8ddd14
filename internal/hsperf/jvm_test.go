package hsperf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tollbooth/internal/kernfile"
	"tollbooth/internal/parse"
)

// stage is a made-up /proc.
type stage struct {
	*testing.T
	root   string
	buffer kernfile.Buffer
}

func newStage(t *testing.T) *stage { return &stage{T: t, root: t.TempDir()} }

func (s *stage) write(path string, content []byte) {
	s.Helper()
	path = filepath.Join(s.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		s.Fatal(err)
	}
}

// addProcess adds a process that is number 7 in its own container.
func (s *stage) addProcess(id int, name string) {
	s.Helper()
	s.write(fmt.Sprintf("%d/comm", id), []byte(name+"\n"))
	s.write(fmt.Sprintf("%d/status", id), fmt.Appendf(nil, "Name:\t%s\nNSpid:\t%d\t7\nNSpgid:\t%d\t1\n", name, id, id))
	if err := os.MkdirAll(filepath.Join(s.root, fmt.Sprint(id), "root/tmp"), 0o755); err != nil {
		s.Fatal(err)
	}
}

// addJVM adds a JVM and returns the path of its file.
func (s *stage) addJVM(id int, file []byte) string {
	s.Helper()
	s.addProcess(id, "java")
	path := fmt.Sprintf("%d/root/tmp/hsperfdata_app/7", id)
	s.write(path, file)
	return filepath.Join(s.root, path)
}

func (s *stage) find(processes string) (*JVM, error) {
	s.Helper()
	jvm, err := Find(&s.buffer, s.root, []byte(processes))
	if jvm != nil {
		s.Cleanup(jvm.Close)
	}
	return jvm, err
}

func (s *stage) mustFind(processes string) *JVM {
	s.Helper()
	jvm, err := s.find(processes)
	if jvm == nil {
		s.Fatalf("found no JVM; error %v", err)
	}
	return jvm
}

func (s *stage) expectNone(processes string) {
	s.Helper()
	if jvm, err := s.find(processes); jvm != nil || err != nil {
		s.Errorf("found %v, error %v", jvm, err)
	}
}

func threads(live uint64) []byte {
	return write(binary.LittleEndian, []entry{{"java.threads.live", unitNone, live}, {"sun.os.hrt.frequency", unitHertz, 1}})
}

func TestTheJVMAmongAContainersProcessesIsRead(t *testing.T) {
	s := newStage(t)
	s.addProcess(40, "sh")
	path := s.addJVM(41, threads(31))
	jvm := s.mustFind("40\n41\n")
	var counters Counters
	for _, live := range []uint64{31, 32} {
		if err := os.WriteFile(path, threads(live), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := jvm.Read(&s.buffer, &counters); err != nil || counters != (Counters{ThreadsLive: parse.Known(live)}) {
			t.Errorf("counters are %+v, error %v", counters, err)
		}
	}
}

func TestWithoutAJVMThatKeepsCountersNothingIsFound(t *testing.T) {
	s := newStage(t)
	s.expectNone("")
	s.expectNone("40\n") // the process has exited
	s.addJVM(41, threads(1))
	s.addProcess(41, "envoy")
	s.expectNone("41\n")
	s.addProcess(42, "java")
	s.write("42/root/tmp/hsperfdata_app/8", threads(1)) // of another process
	s.write("42/root/tmp/other/7", threads(1))
	s.expectNone("42\n")
	s.addJVM(43, make([]byte, 32768))
	s.expectNone("43\n")
	s.write("42/status", []byte("Name:\tjava\n")) // a kernel before 4.1
	s.expectNone("42\n")
}

func TestWhatCannotBeReadIsAnErrorThatNamesIt(t *testing.T) {
	s := newStage(t)
	path := s.addJVM(41, []byte("neither zeros nor the magic number, and long enough"))
	if _, err := s.find("41\n"); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error is %v", err)
	}
	s.addProcess(42, "java")
	tmp := filepath.Join(s.root, "42/root/tmp")
	if err := os.Remove(tmp); err != nil {
		t.Fatal(err)
	}
	s.write("42/root/tmp", nil) // the tests run as root, who is allowed everything: a missing folder simulates a closed one
	if _, err := s.find("42\n"); err == nil || !strings.Contains(err.Error(), tmp) {
		t.Errorf("error is %v", err)
	}
}

func TestAJVMWhoseFileIsRemovedOrCutOffHasEnded(t *testing.T) {
	for name, end := range map[string]func(path string) error{
		"removed": os.Remove,
		"cut off": func(path string) error { return os.Truncate(path, 0) },
	} {
		s := newStage(t)
		path := s.addJVM(41, threads(1))
		jvm := s.mustFind("41\n")
		if err := end(path); err != nil {
			t.Fatal(err)
		}
		var counters Counters
		if err := jvm.Read(&s.buffer, &counters); !errors.Is(err, ErrEnded) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestAJVMThatWasKilledHasEnded(t *testing.T) {
	s := newStage(t)
	s.addJVM(41, threads(1))
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "java") // a process is named after its program
	if output, err := exec.Command("cp", sleep, program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	process := exec.Command(program, "60")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	comm := filepath.Join(s.root, "41/comm")
	if err := os.Remove(comm); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(fmt.Sprintf("/proc/%d/comm", process.Process.Pid), comm); err != nil {
		t.Fatal(err)
	}
	jvm := s.mustFind("41\n")
	var counters Counters
	if err := jvm.Read(&s.buffer, &counters); err != nil {
		t.Fatal(err)
	}
	_ = process.Process.Kill()
	_ = process.Wait()
	if err := jvm.Read(&s.buffer, &counters); !errors.Is(err, ErrEnded) {
		t.Errorf("error is %v", err)
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	s := newStage(t)
	s.addJVM(41, write(binary.LittleEndian, allEntries))
	jvm := s.mustFind("41\n")
	var counters Counters
	allocations := testing.AllocsPerRun(10, func() {
		if err := jvm.Read(&s.buffer, &counters); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}
