package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// What the sink can do with a request whose spans it has counted.
const (
	accept  = "accept"
	slow    = "slow"    // accept it, but answer late
	limited = "limited" // accept it, but at most so many spans per second; what comes faster waits in line
	refuse  = "refuse"  // answer at once that it is not available
)

var behaviours = []string{accept, slow, limited, refuse}

const longestDelay = 10 * time.Minute

// senderHeader is where a request may say who sent it. A Collector sends it if its exporter is configured to.
const senderHeader = "Tollbooth-Sender"

// behaviour is one of them; only slow has a delay, only limited a rate. With a sender, it is for that one's requests, and
// all others are accepted.
type behaviour struct {
	name      string
	delay     time.Duration
	spansPerS float64
	sender    string
}

// towards returns the behaviour towards a request.
func (b *behaviour) towards(header http.Header) *behaviour {
	if b.sender == "" || b.sender == header.Get(senderHeader) {
		return b
	}
	return &behaviour{name: accept}
}

func newBehaviour(name string, delay time.Duration, spansPerS float64) (behaviour, error) {
	if !slices.Contains(behaviours, name) {
		return behaviour{}, fmt.Errorf("there is no behaviour %q; give one of %s", name, strings.Join(behaviours, ", "))
	}
	if name == slow && (delay <= 0 || delay > longestDelay) {
		return behaviour{}, fmt.Errorf("a delay of %v is not possible; give more than 0 and at most %v", delay, longestDelay)
	}
	if name == limited && !(spansPerS > 0) { // true for NaN too
		return behaviour{}, fmt.Errorf("%v spans per second are not possible; give more than 0", spansPerS)
	}
	return behaviour{name: name, delay: delay, spansPerS: spansPerS}, nil
}
