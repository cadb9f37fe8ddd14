package main

import (
	"sync"
	"time"
)

// grace is how much of the time without spans is made up for. Spans come late where a busy machine gives their sender, or
// the sink, no CPU for a while: without it the sink would then be slower than its rate.
const grace = 100 * time.Millisecond

// pace serves spans one after the other, at a rate. Those that come faster wait in line.
type pace struct {
	mutex sync.Mutex
	free  time.Time // when all that came before is served; zero before the first
}

// wait returns how long spans that come now take until they are served.
func (p *pace) wait(now time.Time, spans int, perS float64) time.Duration {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.free.IsZero() {
		p.free = now
	}
	if earliest := now.Add(-grace); p.free.Before(earliest) {
		p.free = earliest
	}
	p.free = p.free.Add(served(spans, perS))
	return max(0, p.free.Sub(now))
}

// giveBack frees the time of spans that nobody waits for any more: those behind them are served instead.
func (p *pace) giveBack(spans int, perS float64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.free = p.free.Add(-served(spans, perS))
}

func served(spans int, perS float64) time.Duration {
	return time.Duration(float64(spans) / perS * float64(time.Second))
}
