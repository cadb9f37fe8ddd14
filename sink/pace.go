package main

import (
	"sync"
	"time"
)

// pace serves spans one after the other, at a rate. Those that come faster wait in line.
type pace struct {
	mutex sync.Mutex
	free  time.Time // when all that came before is served
}

// wait returns how long spans that come now take until they are served.
func (p *pace) wait(now time.Time, spans int, perS float64) time.Duration {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(time.Duration(float64(spans) / perS * float64(time.Second)))
	return p.free.Sub(now)
}
