package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// What the sink can do with a request whose spans it has counted.
const (
	accept = "accept"
	slow   = "slow"   // accept it, but answer late
	refuse = "refuse" // answer at once that it is not available
)

var behaviours = []string{accept, slow, refuse}

const longestDelay = 10 * time.Minute

// behaviour is one of them; only slow has a delay.
type behaviour struct {
	name  string
	delay time.Duration
}

func newBehaviour(name string, delay time.Duration) (behaviour, error) {
	if !slices.Contains(behaviours, name) {
		return behaviour{}, fmt.Errorf("there is no behaviour %q; give one of %s", name, strings.Join(behaviours, ", "))
	}
	if name == slow && (delay <= 0 || delay > longestDelay) {
		return behaviour{}, fmt.Errorf("a delay of %v is not possible; give more than 0 and at most %v", delay, longestDelay)
	}
	return behaviour{name, delay}, nil
}
