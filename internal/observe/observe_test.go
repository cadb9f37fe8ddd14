package observe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tollbooth/internal/lines"
	"tollbooth/internal/targets"
)

var id = strings.Repeat("a1", 32)

// stage is a simulated host with one container, "a1", an observer of it, and a clock that the test sets.
type stage struct {
	testing.TB
	*observer
	config Config
	group  string // the container's folder
	time   time.Time
}

func newStage(t testing.TB, interval time.Duration) *stage {
	t.Helper()
	root := t.TempDir()
	for from, to := range map[string]string{"cgroup/v2-systemd": "cgroup", "proc": "proc", "sys": "sys"} {
		if err := os.CopyFS(filepath.Join(root, to), os.DirFS(filepath.Join("../testdata", from))); err != nil {
			t.Fatal(err)
		}
	}
	s := &stage{
		TB:    t,
		group: filepath.Join(root, "cgroup/system.slice/docker-"+id+".scope"),
		time:  time.Now(),
		config: Config{
			TargetsPath: filepath.Join(root, "targets.json"), OutPath: filepath.Join(root, "counters.jsonl"),
			Interval: interval, SlowInterval: time.Second,
			CgroupRoot: filepath.Join(root, "cgroup"), ProcRoot: filepath.Join(root, "proc"), SysRoot: filepath.Join(root, "sys"),
			ObserverVersion: "test",
		},
	}
	s.setTargets(map[string]string{id: "a1"})
	return s
}

func (s *stage) start() {
	s.Helper()
	file, err := os.Create(s.config.OutPath)
	s.must(err)
	s.observer, err = newObserver(s.config, lines.New(file), func() time.Time { return s.time })
	s.must(err)
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) setTargets(containers map[string]string) {
	s.Helper()
	text, err := json.Marshal(map[string]any{
		"format": "tollbooth.targets", "version": 1, "containers": containers,
		"networks": map[string]string{"app": "172.18.0.0/16"},
	})
	s.must(err)
	s.must(os.WriteFile(s.config.TargetsPath+".new", text, 0o644))
	s.must(os.Rename(s.config.TargetsPath+".new", s.config.TargetsPath))
}

// ticks lets the observer tick n times on schedule.
func (s *stage) ticks(n int) {
	s.Helper()
	for range n {
		s.must(s.tick())
		s.time = s.time.Add(s.config.Interval)
	}
}

// lines ends the run and returns the record.
func (s *stage) lines() []map[string]any {
	s.Helper()
	s.finish()
	s.must(s.writer.Close())
	return readRecord(s.TB, s.config.OutPath)
}

func readRecord(t testing.TB, path string) (lines []map[string]any) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		var line map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, scanner.Text())
		}
		lines = append(lines, line)
	}
	return lines
}

func ofKind(lines []map[string]any, kind string) (found []map[string]any) {
	for _, line := range lines {
		if line["kind"] == kind {
			found = append(found, line)
		}
	}
	return found
}

// events returns the events in order, as "name event".
func events(lines []map[string]any) string {
	var words []string
	for _, line := range ofKind(lines, "event") {
		word := line["event"].(string)
		if name, ok := line["name"]; ok {
			word = fmt.Sprint(name, " ", word)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

func (s *stage) expectEvents(lines []map[string]any, want string) {
	s.Helper()
	if got := events(lines); got != want {
		s.Errorf("events are %q, want %q", got, want)
	}
}

func TestEachKindComesAtItsOwnPace(t *testing.T) {
	s := newStage(t, 100*time.Millisecond)
	s.start()
	s.ticks(21) // 2.0 s
	lines := s.lines()
	if lines[0]["format"] != "tollbooth.counters" || lines[0]["cgroup"] != "v2" || lines[0]["interval_ns"] != 1e8 {
		t.Errorf("the header is %v", lines[0])
	}
	// The last sample of everything is one more of each.
	for kind, want := range map[string]int{"container": 22, "network": 2 * 22, "slow": 4, "jvm": 4, "host": 4, "observer": 4} {
		if got := len(ofKind(lines, kind)); got != want {
			t.Errorf("%d lines of kind %s, want %d", got, kind, want)
		}
	}
	s.expectEvents(lines, "a1 appeared, stopped")
}

func TestWhatIsReadIsRecorded(t *testing.T) {
	s := newStage(t, time.Second)
	s.start()
	s.ticks(1)
	lines := s.lines()
	for kind, want := range map[string]map[string]any{
		"container": {"name": "a1", "cpu_usage_ns": 6.5e9, "memory_usage_bytes": float64(200 << 20)},
		"network":   {"name": "a1", "interface": "eth1", "network": nil, "rx_bytes": 70.0},
		"slow": {"name": "a1", "threads": 3.0, "processes": 2.0, "context_switches_voluntary": 123.0,
			"context_switches_involuntary": 12.0, "block_write_bytes": 4096.0, "memory_working_set_bytes": float64(192 << 20),
			"memory_page_cache_bytes": float64(20 << 20), "memory_peak_bytes": float64(240 << 20),
			"jit_cpu_ns": 2.5e9, "gc_cpu_ns": 0.0, "exporter_cpu_ns": 0.0},
		"jvm": {"name": "a1", "eden_used_bytes": 0.0, "eden_capacity_bytes": 35782656.0, "young_gc_count": 7.0,
			"young_gc_time_ns": 6950522.0, "young_gc_last_t_ns": 1795278979320000087.0,
			"full_gc_count": 1.0, "full_gc_time_ns": 20083488.0, "jit_time_ns": 66025499.0,
			"jit_compilations": 113.0, "classes_loaded": 953.0, "threads_live": 6.0},
		"host":     {"cpus": 2.0, "cpu_steal_ns": 4.1e9},
		"observer": {"samples": 1.0, "errors": 0.0, "missed_ticks": 0.0},
	} {
		line := ofKind(lines, kind)[0]
		for field, value := range want {
			if line[field] != value {
				t.Errorf("%s: %s is %v, want %v", kind, field, line[field], value)
			}
		}
	}
	if second := ofKind(lines, "network")[1]; second["interface"] != "eth0" || second["network"] != "app" {
		t.Errorf("network is %v", second)
	}
}

func TestMissedTicksAreCounted(t *testing.T) {
	s := newStage(t, 100*time.Millisecond)
	s.start()
	s.ticks(1)
	s.time = s.time.Add(250 * time.Millisecond)
	s.ticks(1)
	observer := ofKind(s.lines(), "observer")
	if got := observer[len(observer)-1]["missed_ticks"]; got != 2.0 {
		t.Errorf("%v missed ticks", got)
	}
}

// mortal makes the container's CPU counters end when the returned function is called, as removing its group does.
func (s *stage) mortal() (end func()) {
	s.Helper()
	process := exec.Command("sleep", "60")
	s.must(process.Start())
	s.must(os.Remove(filepath.Join(s.group, "cpu.stat")))
	s.must(os.Symlink(fmt.Sprintf("/proc/%d/oom_score_adj", process.Process.Pid), filepath.Join(s.group, "cpu.stat")))
	return func() {
		_ = process.Process.Kill()
		_ = process.Wait()
		s.must(os.Rename(s.group, s.group+".away"))
	}
}

func (s *stage) restart() {
	s.Helper()
	s.must(os.Rename(s.group+".away", s.group))
	s.must(os.Remove(filepath.Join(s.group, "cpu.stat")))
	s.must(os.WriteFile(filepath.Join(s.group, "cpu.stat"), []byte("usage_usec 1\n"), 0o644))
}

func TestAContainerThatGoesAndComesBackIsThreeEvents(t *testing.T) {
	s := newStage(t, time.Second)
	end := s.mortal()
	s.start()
	s.ticks(2)
	end()
	s.ticks(3)
	s.restart()
	s.ticks(2)
	lines := s.lines()
	s.expectEvents(lines, "a1 appeared, a1 gone, a1 restarted, stopped")
	if got := len(ofKind(lines, "container")); got != 5 {
		t.Errorf("%d samples of the container, want 2 before, 2 after and the last", got)
	}
	if last := ofKind(lines, "observer"); last[len(last)-1]["errors"] != 0.0 {
		t.Error("a container's end counts as an error")
	}
}

func TestAContainerThatComesLaterAppears(t *testing.T) {
	s := newStage(t, time.Second)
	s.must(os.Rename(s.group, s.group+".away"))
	s.start()
	s.ticks(2)
	s.must(os.Rename(s.group+".away", s.group))
	s.ticks(1)
	lines := s.lines()
	s.expectEvents(lines, "a1 appeared, stopped")
	if got := len(ofKind(lines, "container")); got != 2 {
		t.Errorf("%d samples of the container", got)
	}
}

func TestALastingReadErrorIsOneEvent(t *testing.T) {
	s := newStage(t, time.Second)
	s.must(os.Remove(filepath.Join(s.group, "memory.peak")))
	s.must(os.Mkdir(filepath.Join(s.group, "memory.peak"), 0o755)) // opens, but does not read
	s.start()
	s.ticks(3)
	lines := s.lines()
	s.expectEvents(lines, "a1 appeared, a1 read_error, stopped")
	if detail := ofKind(lines, "event")[1]["detail"]; !strings.Contains(fmt.Sprint(detail), "memory.peak: is a directory") {
		t.Errorf("detail is %v", detail)
	}
	if observer := ofKind(lines, "observer"); observer[len(observer)-1]["errors"] != 4.0 {
		t.Errorf("errors are %v", observer[len(observer)-1]["errors"])
	}
	if len(ofKind(lines, "network")) == 0 || len(ofKind(lines, "container")) == 0 {
		t.Error("one kind of error stopped the others")
	}
}

// counterFile is the file that the container's JVM keeps.
func (s *stage) counterFile() string {
	return filepath.Join(s.config.ProcRoot, "4001/root/tmp/hsperfdata_tollbooth/7")
}

func TestAJVMThatComesLaterAndEndsIsNoEvent(t *testing.T) {
	s := newStage(t, time.Second)
	s.must(os.Rename(s.counterFile(), s.counterFile()+".away"))
	s.start()
	s.ticks(2)
	s.must(os.Rename(s.counterFile()+".away", s.counterFile()))
	s.ticks(3)
	s.must(os.Rename(s.counterFile(), s.counterFile()+".away"))
	s.must(os.CopyFS(filepath.Dir(s.counterFile()), os.DirFS("../testdata/proc/4001/root/tmp/hsperfdata_tollbooth"))) // another JVM
	s.must(os.Remove(s.counterFile() + ".away"))
	s.ticks(3)
	s.must(os.Remove(s.counterFile()))
	s.ticks(2)
	lines := s.lines()
	s.expectEvents(lines, "a1 appeared, stopped")
	if got := len(ofKind(lines, "jvm")); got != 3+2 {
		t.Errorf("%d samples of the JVM, want 3 of the first, and 2 of the second after the first's end was seen", got)
	}
	if last := ofKind(lines, "observer"); last[len(last)-1]["errors"] != 0.0 {
		t.Error("a JVM's end counts as an error")
	}
}

func TestAMalformedCounterFileIsOneEventAndStopsNothingElse(t *testing.T) {
	s := newStage(t, time.Second)
	whole, err := os.ReadFile(s.counterFile())
	s.must(err)
	s.must(os.WriteFile(s.counterFile(), whole[:100], 0o644))
	s.start()
	s.ticks(3)
	s.must(os.WriteFile(s.counterFile(), whole, 0o644))
	s.ticks(1)
	lines := s.lines()
	s.expectEvents(lines, "a1 appeared, a1 read_error, stopped")
	if jvm, slow := len(ofKind(lines, "jvm")), len(ofKind(lines, "slow")); jvm != 2 || slow != 5 {
		t.Errorf("%d samples of the JVM, %d of what comes at the same interval", jvm, slow)
	}
}

func TestAContainerInTheHostsNetworkNamespaceHasNoInterfaces(t *testing.T) {
	s := newStage(t, time.Second)
	s.must(os.WriteFile(filepath.Join(s.group, "cgroup.procs"), []byte("1\n"), 0o644))
	s.start()
	s.ticks(2)
	lines := s.lines()
	s.expectEvents(lines, "a1 appeared, stopped")
	if got := ofKind(lines, "network"); len(got) != 0 {
		t.Errorf("network is %v", got)
	}
}

func TestChangedTargets(t *testing.T) {
	s := newStage(t, time.Second)
	s.must(os.Remove(s.config.TargetsPath))
	s.start()
	s.ticks(2)
	s.setTargets(map[string]string{id: "a1"})
	s.ticks(2)
	s.setTargets(map[string]string{id: "renamed"})
	s.ticks(2)
	s.setTargets(map[string]string{strings.Repeat("b2", 32): "other"})
	s.ticks(2)
	lines := s.lines()
	s.expectEvents(lines, "a1 appeared, targets_changed, targets_changed, stopped")
	if got := len(ofKind(lines, "container")); got != 4 {
		t.Errorf("%d samples of containers, want 2 under each name", got)
	}
	s = newStage(t, time.Second)
	s.must(os.WriteFile(s.config.TargetsPath, []byte("{"), 0o644))
	s.start()
	var invalid *targets.InvalidError
	if err := s.tick(); !errors.As(err, &invalid) {
		t.Errorf("error is %v", err)
	}
}

func TestARunEndsWithALastSampleAndSaysSo(t *testing.T) {
	s := newStage(t, time.Hour)
	s.config.SlowInterval = time.Hour
	ctx, stop := context.WithCancel(context.Background())
	stop()
	s.must(Run(ctx, s.config))
	lines := readRecord(t, s.config.OutPath)
	if last := lines[len(lines)-1]; last["event"] != "stopped" || lines[len(lines)-2]["kind"] != "observer" {
		t.Errorf("the record ends with %v", lines[len(lines)-2:])
	}
}

func TestARecordThatCannotBeWrittenEndsTheRun(t *testing.T) {
	s := newStage(t, time.Second)
	s.config.OutPath = "/dev/full"
	err := Run(context.Background(), s.config)
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("error is %v", err)
	}
}

func TestSamplingAllocatesNothing(t *testing.T) {
	s := newStage(t, 100*time.Millisecond)
	s.start()
	s.ticks(2)
	for name, slow := range map[string]bool{"fast": false, "everything": true} {
		allocations := testing.AllocsPerRun(100, func() {
			s.sample(slow)
			s.writer.Lines = s.writer.Lines[:0]
		})
		if allocations > 0 {
			t.Errorf("%s: %v allocations", name, allocations)
		}
	}
}

// Twenty containers as in the requirement; fixture files are read a little faster than the kernel's.
func BenchmarkSample20Containers(b *testing.B) {
	for name, slow := range map[string]bool{"fast": false, "everything": true} {
		b.Run(name, func(b *testing.B) {
			s := newStage(b, 100*time.Millisecond)
			containers := map[string]string{}
			for i := range 20 {
				copyID := fmt.Sprintf("%064x", i)
				s.must(os.CopyFS(strings.ReplaceAll(s.group, id, copyID), os.DirFS(s.group)))
				containers[copyID] = fmt.Sprint("c", i)
			}
			s.setTargets(containers)
			s.start()
			s.ticks(2)
			b.ReportAllocs()
			for b.Loop() {
				s.sample(slow)
				s.writer.Lines = s.writer.Lines[:0]
			}
		})
	}
}
