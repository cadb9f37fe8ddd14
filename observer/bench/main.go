// Bench compares what the observer costs with what `docker stats` costs on the same containers: see ../README.md.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	containerImage = "tollbooth/debian:trixie"
	observerImage  = "tollbooth/observer:dev"
	observerHz     = 10
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

// cost of watching, over one window.
type cost struct {
	name     string
	cpu      time.Duration
	elapsed  time.Duration
	samples  int
	rssBytes uint64
}

func (c cost) perSample() time.Duration { return c.cpu / time.Duration(c.samples) }

func run(containers int, window time.Duration) error {
	prefix := fmt.Sprint("tollbooth-bench-", os.Getpid())
	if _, err := docker("network", "create", prefix); err != nil {
		return err
	}
	defer func() { _, _ = docker("network", "rm", prefix) }()
	ids, err := startContainers(prefix, containers)
	defer func() { _, _ = docker(append([]string{"rm", "--force"}, ids...)...) }()
	if err != nil {
		return err
	}

	fmt.Printf("%d containers, %v for each line\n\n%-52s %9s %14s %15s %8s\n",
		containers, window, "", "samples/s", "CPU, % of core", "CPU per sample", "RSS, MiB")
	fast, err := observe(prefix, ids, window, time.Hour)
	if err != nil {
		return err
	}
	fast.name = fmt.Sprintf("observer, %d Hz: CPU, memory, network", observerHz)
	show(fast)
	all, err := observe(prefix, ids, window, time.Second)
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
	fmt.Printf("\nper sample, docker stats costs %.0f times the CPU of the observer\n",
		float64(stats.perSample())/float64(all.perSample()))
	return nil
}

func show(c cost) {
	fmt.Printf("%-52s %9.0f %14.2f %15v %8.1f\n", c.name, float64(c.samples)/c.elapsed.Seconds(),
		100*c.cpu.Seconds()/c.elapsed.Seconds(), c.perSample().Round(time.Microsecond), float64(c.rssBytes)/(1<<20))
}

func startContainers(prefix string, count int) (ids []string, err error) {
	for i := range count {
		id, err := docker("run", "--detach", "--name", fmt.Sprint(prefix, "-", i), "--network", prefix,
			containerImage, "sh", "-c", "while :; do sleep 1; done")
		if err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// observe runs the observer as the lab does and reads its cost from its own record.
func observe(prefix string, ids []string, window, slowInterval time.Duration) (cost, error) {
	folder, err := os.MkdirTemp("", "tollbooth-bench-")
	if err != nil {
		return cost{}, err
	}
	defer os.RemoveAll(folder)
	if err := writeTargets(folder, ids); err != nil {
		return cost{}, err
	}
	name := prefix + "-observer"
	_, err = docker("run", "--detach", "--name", name, "--pid", "host", "--network", "none", "--user", "65532:65532",
		"--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		"--volume", "/sys/fs/cgroup:/host/cgroup:ro", "--volume", folder+":/out", observerImage,
		"--targets", "/out/targets.json", "--out", "/out/counters.jsonl",
		"--interval", (time.Second / observerHz).String(), "--slow-interval", slowInterval.String())
	if err != nil {
		return cost{}, err
	}
	defer func() { _, _ = docker("rm", "--force", name) }()
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

// readCost takes the first of the observer's lines about itself from the last: its start is not counted.
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
	for _, text := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			return cost{}, err
		}
		if l.Kind == "observer" {
			own = append(own, l)
		}
	}
	if len(own) < 2 {
		return cost{}, fmt.Errorf("%s says nothing about the observer itself", path)
	}
	first, last := own[0], own[len(own)-1]
	return cost{
		cpu: time.Duration(last.CPUNs - first.CPUNs), elapsed: time.Duration(last.TNs - first.TNs),
		samples: last.Samples - first.Samples, rssBytes: last.RSSBytes,
	}, nil
}
