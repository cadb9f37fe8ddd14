package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
)

// The end of a request's headers. A traceparent goes before it.
const endOfHeaders = "\r\n"

// traceparents are headers that begin a trace of their own each: https://www.w3.org/TR/trace-context/#traceparent-header
type traceparents struct {
	flags string

	mutex  sync.Mutex
	random *rand.Rand
}

func newTraceparents(flags string, seed uint64) *traceparents {
	return &traceparents{flags: flags, random: rand.New(rand.NewPCG(seed, traceStream))}
}

// added returns a request with the next traceparent.
func (p *traceparents) added(message []byte) []byte {
	p.mutex.Lock()
	high, low, span := p.random.Uint64(), p.random.Uint64(), p.random.Uint64()
	p.mutex.Unlock()
	// Clipped, so that the message itself, which others send too, is not changed.
	headers := slices.Clip(message[:len(message)-len(endOfHeaders)])
	return fmt.Appendf(headers, "traceparent: 00-%016x%016x-%016x-%s\r\n%s", high, low, span, p.flags, endOfHeaders)
}
