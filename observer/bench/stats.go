package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"tollbooth/internal/parse"
)

// dockerStats runs `docker stats`, which gets one sample per second and container from the engine. Its cost includes
// the command, and the engine above its idle use.
func dockerStats(ids []string, window time.Duration) (cost, error) {
	idle := engineCPU()
	time.Sleep(window)
	idle = engineCPU() - idle

	engine := engineCPU()
	command := exec.Command("docker", append([]string{"stats"}, ids...)...)
	var screen bytes.Buffer
	command.Stdout = &screen
	if err := command.Start(); err != nil {
		return cost{}, err
	}
	time.Sleep(window)
	if err := command.Process.Kill(); err != nil { // without a terminal it ignores other signals
		return cost{}, err
	}
	_ = command.Wait() // returns the error of a killed process
	engine = engineCPU() - engine
	if screen.Len() == 0 {
		return cost{}, errors.New("docker stats printed nothing")
	}
	if engine < idle {
		return cost{}, errors.New("the engine was busy with something else: run this on a quiet machine")
	}
	own := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	return cost{
		name: "docker stats, 1 Hz: the command and the engine", cpu: own + engine - idle, elapsed: window,
		samples:  len(ids) * int(window.Seconds()),
		rssBytes: uint64(command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) << 10,
	}, nil
}

// engineCPU returns the CPU time that all processes of the engine have used so far, in steps of 10 ms each.
func engineCPU() (total time.Duration) {
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil { // the process has exited
			continue
		}
		name, fields, _ := strings.Cut(string(text), ") ")
		if strings.Contains(name, "(dockerd") || strings.Contains(name, "(containerd") {
			columns := strings.Fields(fields)
			userTicks, systemTicks := parse.Uint([]byte(columns[11])), parse.Uint([]byte(columns[12]))
			total += time.Duration((userTicks.Value + systemTicks.Value) * parse.NsPerTick)
		}
	}
	return total
}

// docker runs a docker command and returns what it printed.
func docker(arguments ...string) (string, error) {
	command := exec.Command("docker", arguments...)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("docker %s: %s", arguments[0], strings.TrimSpace(complaint.String()))
	}
	return strings.TrimSpace(string(output)), nil
}
