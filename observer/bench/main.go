// Bench compares the cost of the observer with `docker stats` on the same containers. See ../README.md.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	observerImage = "tollbooth/observer:dev"
	observerHz    = 10
)

func main() {
	containers := flag.Int("containers", 20, "how many containers to watch")
	window := flag.Duration("window", 30*time.Second, "how long to measure each")
	flag.Parse()
	if err := run(*containers, *window); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// cost of observing, over one window.
type cost struct {
	name     string
	cpu      time.Duration
	elapsed  time.Duration
	samples  int
	rssBytes uint64
	jvmLines int // how often a JVM's own counters were read
}

func (c cost) perSample() time.Duration { return c.cpu / time.Duration(c.samples) }

func run(containers int, window time.Duration) error {
	folder, err := os.MkdirTemp("", "tollbooth-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	g := group{prefix: filepath.Base(folder), folder: folder, count: containers}
	if _, err := docker("network", "create", g.prefix); err != nil {
		return err
	}
	defer func() { _, _ = docker("network", "rm", g.prefix) }()
	fmt.Printf("%d containers, %v for each line\n\n%-52s %9s %14s %15s %8s\n",
		containers, window, "", "samples/s", "CPU, % of core", "CPU per sample", "RSS, MiB")
	if err := compareWithStats(g, window); err != nil {
		return err
	}
	return compareJVMs(g, window)
}

// compareWithStats observes single-process containers with the observer and with docker stats.
func compareWithStats(g group, window time.Duration) error {
	ids, err := g.start(shells())
	defer remove(ids)
	if err != nil {
		return err
	}
	fast, err := g.observe(ids, window, time.Hour)
	if err != nil {
		return err
	}
	fast.name = fmt.Sprintf("observer, %d Hz: CPU, memory, network", observerHz)
	show(fast)
	all, err := g.observe(ids, window, time.Second)
	if err != nil {
		return err
	}
	all.name = "observer, and everything else at 1 Hz"
	show(all)
	stats, err := dockerStats(ids, window)
	if err != nil {
		return err
	}
	show(stats)
	fmt.Printf("\nper sample, docker stats costs %.0f times the CPU of the observer\n\n",
		float64(stats.perSample())/float64(all.perSample()))
	return nil
}

// compareJVMs observes JVMs without a file of counters, then the same JVMs with one.
func compareJVMs(g group, window time.Duration) error {
	without, err := g.observeJVMs("-XX:-UsePerfData", window)
	if err != nil {
		return err
	}
	without.name = "JVMs, everything but their own counters"
	show(without)
	with, err := g.observeJVMs("-XX:+UsePerfData", window)
	if err != nil {
		return err
	}
	with.name = "JVMs, and their own counters at 1 Hz"
	show(with)
	if without.jvmLines > 0 || with.jvmLines == 0 {
		return errors.New("only the second of these should have read the JVMs' counters: has the image's user 65532 a name?")
	}
	added := with.cpu.Seconds()/with.elapsed.Seconds() - without.cpu.Seconds()/without.elapsed.Seconds()
	fmt.Printf("\ntheir own counters add %.3f %% of a core\n", 100*added)
	return nil
}

func show(c cost) {
	fmt.Printf("%-52s %9.0f %14.2f %15v %8.1f\n", c.name, float64(c.samples)/c.elapsed.Seconds(),
		100*c.cpu.Seconds()/c.elapsed.Seconds(), c.perSample().Round(time.Microsecond), float64(c.rssBytes)/(1<<20))
}

func (g group) observeJVMs(option string, window time.Duration) (cost, error) {
	ids, err := g.start(jvms(option))
	defer remove(ids)
	if err != nil {
		return cost{}, err
	}
	return g.observe(ids, window, time.Second)
}

// observe runs the observer as the lab does and reads its cost from its own record.
func (g group) observe(ids []string, window, slowInterval time.Duration) (cost, error) {
	folder, err := os.MkdirTemp(g.folder, "observer-")
	if err != nil {
		return cost{}, err
	}
	if err := writeTargets(folder, ids); err != nil {
		return cost{}, err
	}
	name := g.prefix + "-observer"
	_, err = docker("run", "--detach", "--name", name, "--pid", "host", "--network", "none", "--user", "65532:65532",
		"--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		"--volume", "/sys/fs/cgroup:/host/cgroup:ro", "--volume", folder+":/out", observerImage,
		"--targets", "/out/targets.json", "--out", "/out/counters.jsonl",
		"--interval", (time.Second / observerHz).String(), "--slow-interval", slowInterval.String())
	if err != nil {
		return cost{}, err
	}
	defer remove([]string{name})
	time.Sleep(window)
	if _, err := docker("stop", name); err != nil {
		return cost{}, err
	}
	return readCost(filepath.Join(folder, "counters.jsonl"))
}

func writeTargets(folder string, ids []string) error {
	containers := map[string]string{}
	for i, id := range ids {
		containers[id] = fmt.Sprint("c", i)
	}
	text, err := json.Marshal(map[string]any{"format": "tollbooth.targets", "version": 1, "containers": containers})
	if err != nil {
		return err
	}
	if err := os.Chmod(folder, 0o777); err != nil { // the observer is another user
		return err
	}
	return os.WriteFile(filepath.Join(folder, "targets.json"), text, 0o644)
}

// readCost returns the difference between the observer's first and last line about itself. This excludes its start.
func readCost(path string) (cost, error) {
	type line struct {
		Kind     string
		TNs      int64  `json:"t_ns"`
		CPUNs    int64  `json:"cpu_ns"`
		RSSBytes uint64 `json:"rss_bytes"`
		Samples  int
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return cost{}, err
	}
	var own []line
	jvmLines := 0
	for _, text := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			return cost{}, err
		}
		switch l.Kind {
		case "observer":
			own = append(own, l)
		case "jvm":
			jvmLines++
		}
	}
	if len(own) < 2 {
		return cost{}, fmt.Errorf("%s has no counters of the observer itself", path)
	}
	first, last := own[0], own[len(own)-1]
	return cost{
		cpu: time.Duration(last.CPUNs - first.CPUNs), elapsed: time.Duration(last.TNs - first.TNs),
		samples: last.Samples - first.Samples, rssBytes: last.RSSBytes, jvmLines: jvmLines,
	}, nil
}
