package main

import "sync"

// Workers share locks by their traces' IDs.
const shards = 64

// waiter is a worker that waits for a trace.
type waiter struct {
	complete    chan struct{} // gets one value when the last span has come
	wanted, got int           // spans
	last        int64         // when the last one came, Unix ns; 0: none came
}

func newWaiter() *waiter { return &waiter{complete: make(chan struct{}, 1)} }

// waiting matches what comes back with the workers that wait.
type waiting struct {
	shards [shards]struct {
		sync.Mutex
		waiters map[traceID]*waiter
	}
}

func newWaiting() *waiting {
	w := &waiting{}
	for i := range w.shards {
		w.shards[i].waiters = map[traceID]*waiter{}
	}
	return w
}

// expect begins to wait for so many spans of a trace.
func (w *waiting) expect(id traceID, spans int, by *waiter) {
	by.wanted, by.got, by.last = spans, 0, 0
	shard := &w.shards[id[0]%shards]
	shard.Lock()
	defer shard.Unlock()
	shard.waiters[id] = by
}

// arrived counts what came back. It returns how many spans nobody waits for.
func (w *waiting) arrived(parts []part, ns int64) (unexpected int) {
	for _, p := range parts {
		shard := &w.shards[p.id[0]%shards]
		shard.Lock()
		found := shard.waiters[p.id]
		switch {
		case found == nil:
			unexpected += p.spans
		case found.got < found.wanted: // beyond their number, some came twice
			found.last = ns
			if found.got+p.spans >= found.wanted {
				found.complete <- struct{}{}
			}
			fallthrough
		default:
			found.got += p.spans
		}
		shard.Unlock()
	}
	return unexpected
}

// forget ends the waiting for a trace. Nothing changes the waiter afterwards.
func (w *waiting) forget(id traceID, by *waiter) {
	shard := &w.shards[id[0]%shards]
	shard.Lock()
	delete(shard.waiters, id)
	shard.Unlock()
	select {
	case <-by.complete: // it came when the worker no longer waited
	default:
	}
}
