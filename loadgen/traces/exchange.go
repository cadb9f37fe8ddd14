package main

import (
	"context"
	"sync"
	"time"
)

// sending is how the traces of a batch were sent. Times are Unix ns, 0 if nothing was sent.
type sending struct {
	verdict
	start, end int64
}

// encode appends the requests of a batch, one for each client that has spans in it.
func (r *run) encode(bodies []*body, traces []trace, clients int) []*body {
	for client := range clients {
		b := newBody()
		b.client, b.spans = client, r.transport.encode(b, traces, client)
		if b.spans > 0 {
			bodies = append(bodies, b)
		} else {
			b.release()
		}
	}
	return bodies
}

// exchange sends a batch's requests, and returns when they were answered. Client k sends to target k, modulo their number:
// to all targets at the same time, to each one request after the other. The first one that failed decides the verdict.
func (r *run) exchange(ctx context.Context, connections []connection, bodies []*body) sending {
	s := sending{start: r.clock.Now()}
	if len(bodies) == 1 {
		s.verdict = r.sendOne(ctx, connections[bodies[0].client%len(connections)], bodies[0])
		s.end = r.clock.Now()
		return s
	}
	verdicts := make([]verdict, len(bodies))
	to := make([][]int, len(connections)) // before any is sent: a body belongs to nobody then
	for i, b := range bodies {
		to[b.client%len(to)] = append(to[b.client%len(to)], i)
	}
	var under sync.WaitGroup
	for target, own := range to {
		under.Go(func() {
			for _, i := range own {
				verdicts[i] = r.sendOne(ctx, connections[target], bodies[i])
			}
		})
	}
	under.Wait()
	s.end = r.clock.Now()
	for _, each := range verdicts {
		if each != sentWell {
			s.verdict = each
			break
		}
	}
	return s
}

// sendOne sends one request.
func (r *run) sendOne(ctx context.Context, to connection, b *body) verdict {
	r.counters.requests.Add(1)
	r.counters.spans.Add(uint64(b.spans))
	r.counters.bytes.Add(uint64(b.written()))
	return to.send(ctx, r.load.sendTimeout(), b)
}

// sleep returns after the time, and false if the context ended before.
func sleep(ctx context.Context, rest time.Duration) bool {
	if rest <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
