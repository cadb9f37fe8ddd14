// Command open-loop sends HTTP requests at a rate, whatever becomes of the answers. For warm-ups it can also send them in a
// closed loop: see README.md beside this file.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	common "tollbooth/internal/load"
)

const (
	// With as many as CPUs, a thread that wakes could find all of them taken by answers, and wait for one.
	goThreads = 8
	// Below this much memory nothing is collected: a load's requests leave little behind. The container has 512 MiB.
	memoryLimit = 400 << 20
)

func main() {
	folder := flag.String("folder", "/out", "where load-<n>.json is read and requests-<n>.csv is written")
	check := flag.Bool("check", false, "instead measure at which rates requests are sent on time, to TARGET or a server of its own")
	each := flag.Duration("for", 5*time.Second, "with -check: how long each rate is sent")
	route := flag.String("route", "a1", "with -check: the route of the requests")
	flag.Parse()
	runtime.GOMAXPROCS(goThreads)
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memoryLimit)
	err := error(nil)
	if *check {
		err = checkRates(os.Stdout, os.Getenv("TARGET"), *route, *each)
	} else {
		err = run(*folder, os.Getenv("TARGET"))
	}
	if err != nil {
		say(err.Error())
		os.Exit(1)
	}
}

func say(line string) { fmt.Fprintln(os.Stderr, "open-loop:", line) }

// run sends the folder's loads, each as it appears, until one that has no requests. Its error is one line.
func run(folder, target string) error {
	if err := common.CheckTarget(target); err != nil {
		return err
	}
	return common.Each(folder, sender{target, timeout, maxInFlight, say}.send)
}
