package main

import (
	"fmt"
	"strings"
	"time"
)

const startLimit = 2 * time.Minute

// group is a set of containers on their own network, with a common name prefix.
type group struct {
	prefix, folder string
	count          int
}

// kind describes what runs in a container: `docker run`'s arguments from the options on, and what the container prints
// when it has started.
type kind struct {
	arguments []string
	ready     string
}

// shells have one process with one thread.
func shells() kind {
	return kind{[]string{"tollbooth/debian:trixie", "sh", "-c", "echo ready; while :; do sleep 1; done"}, "ready"}
}

// jvms are idle web servers of the JDK, run as the lab runs its services.
func jvms(option string) kind {
	return kind{[]string{"--user", "65532:65532", "--read-only", "--tmpfs", "/tmp:mode=1777",
		"tollbooth/jre:trixie", "java", option, "-XX:+UseSerialGC", "-Xmx32m", "-m", "jdk.httpserver"}, "Serving"}
}

// start starts the containers and waits until all have started. It returns those that it started even if it fails.
func (g group) start(k kind) (ids []string, err error) {
	for i := range g.count {
		options := []string{"run", "--detach", "--name", fmt.Sprint(g.prefix, "-", i), "--network", g.prefix}
		id, err := docker(append(options, k.arguments...)...)
		if err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	end := time.Now().Add(startLimit)
	for _, id := range ids {
		if err := await(id, k.ready, end); err != nil {
			return ids, err
		}
	}
	return ids, nil
}

// await waits until a container has printed a text.
func await(id, text string, end time.Time) error {
	for time.Now().Before(end) {
		printed, err := docker("logs", id)
		if err != nil || strings.Contains(printed, text) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("container %.12s has not started after %v", id, startLimit)
}

func remove(ids []string) { _, _ = docker(append([]string{"rm", "--force"}, ids...)...) }
