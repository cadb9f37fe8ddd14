package main

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	requestLimit = 1024             // requests that wait or are answered at the same time
	readerLimit  = 16               // bodies in memory at the same time; a streaming client's takes a second to come
	readLimit    = 10 * time.Second // what a body may take
)

// sink is what all ports share.
type sink struct {
	counters  counters
	traces    *traces
	behaviour atomic.Pointer[behaviour]
	line      chan time.Time   // of a limited sink: when the spans before were served; who is served holds it
	inFlight  chan struct{}    // one for each request that is being answered
	readers   chan *bodyReader // those that are free
	seen      *seenIDs         // nil: duplicates are not counted
	stopping  chan struct{}    // closed when the sink stops
	readLimit time.Duration    // for the body of a request that has a reader
}

// counters since the sink started.
type counters struct {
	acceptedSpans, duplicateSpans, refusedSpans, requests, delayedRequests, bytes atomic.Uint64
}

func newSink(initial behaviour) *sink {
	s := &sink{
		traces:    newTraces(),
		inFlight:  make(chan struct{}, requestLimit),
		readers:   make(chan *bodyReader, readerLimit),
		line:      make(chan time.Time, 1),
		stopping:  make(chan struct{}),
		readLimit: readLimit,
	}
	for range readerLimit {
		s.readers <- &bodyReader{}
	}
	s.line <- time.Time{}
	s.behaviour.Store(&initial)
	return s
}

// protocol is one way of sending spans.
type protocol struct {
	// unwrap returns the message that a request's body carries, and whether that is compressed with gzip.
	unwrap func(http.Header, []byte) (message []byte, compressed bool, r *rejection)
	// read returns the number of spans in a message, and found with those appended whose traces are wanted, valid as long
	// as the message. Its error says what is wrong with the message.
	read func(message []byte, wanted sample, found []rawSpan) (int, []rawSpan, error)
	// spanIDs appends the span IDs of a message that was read. Nil: they are not known, and no duplicates are counted.
	spanIDs func(message []byte, ids []uint64) []uint64
	// answer answers that the spans were accepted, or rejected.
	answer func(http.ResponseWriter, *rejection)
}

// rejection says why spans are not accepted.
type rejection struct {
	httpStatus, grpcStatus int
	reason                 string
}

// Status codes of gRPC.
const (
	grpcInvalidArgument   = 3
	grpcResourceExhausted = 8
	grpcUnimplemented     = 12
	grpcUnavailable       = 14
)

var (
	setToRefuse = &rejection{http.StatusServiceUnavailable, grpcUnavailable, "this sink is set to refuse"}
	givenUp     = &rejection{http.StatusServiceUnavailable, grpcUnavailable, "the sender no longer waits, or this sink is stopping"}
	tooSlow     = &rejection{http.StatusServiceUnavailable, grpcUnavailable, "the body took longer than 10 s"}
	tooMany     = &rejection{http.StatusServiceUnavailable, grpcUnavailable, "too many requests at the same time"}
	tooLarge    = &rejection{http.StatusRequestEntityTooLarge, grpcResourceExhausted, "the body is larger than 4 MiB"}
	wrongType   = &rejection{http.StatusUnsupportedMediaType, grpcUnimplemented, "this sink does not read that content type or encoding"}
)

func malformed(err error) *rejection {
	return &rejection{http.StatusBadRequest, grpcInvalidArgument, err.Error()}
}

// handler receives spans that come by a protocol.
func (s *sink) handler(p protocol) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.counters.requests.Add(1)
		p.answer(w, s.receive(p, w, r))
	}
}

// receive counts a request's spans; it returns nil if they are accepted. Spans are kept only where they are accepted at
// once: senders repeat the others.
func (s *sink) receive(p protocol, w http.ResponseWriter, r *http.Request) *rejection {
	select {
	case s.inFlight <- struct{}{}:
		defer func() { <-s.inFlight }()
	default:
		return tooMany
	}
	current := s.behaviour.Load().towards(r.Header)
	spans, rejected := s.read(p, current.name == accept, w, r)
	if rejected != nil {
		return rejected
	}
	if rejected = s.behave(r.Context(), current, spans); rejected != nil {
		s.counters.refusedSpans.Add(uint64(spans))
		return rejected
	}
	s.counters.acceptedSpans.Add(uint64(spans))
	return nil
}

// behave applies the current behaviour to a request that could be accepted. Nothing of the body is in memory by now.
func (s *sink) behave(ctx context.Context, current *behaviour, spans int) *rejection {
	switch current.name {
	case slow:
		s.counters.delayedRequests.Add(1)
		_, rejected := s.await(ctx, time.After(current.delay))
		return rejected
	case limited:
		return s.inLine(ctx, spans, current.spansPerS)
	case refuse:
		return setToRefuse
	}
	return nil
}

// inLine returns when spans were served, at the rate and after those that came before them.
func (s *sink) inLine(ctx context.Context, spans int, perS float64) *rejection {
	came := time.Now()
	free, rejected := s.await(ctx, s.line)
	if rejected != nil {
		s.counters.delayedRequests.Add(1)
		return rejected
	}
	now := time.Now()
	end := servedAt(free, now, spans, perS)
	if end.After(came) {
		s.counters.delayedRequests.Add(1)
	}
	if _, rejected = s.await(ctx, time.After(end.Sub(now))); rejected != nil {
		end = time.Now() // what it took until now is not sold again
	}
	s.line <- end
	return rejected
}

// await returns what comes, or a rejection if the sender gives up or the sink stops.
func (s *sink) await(ctx context.Context, from <-chan time.Time) (time.Time, *rejection) {
	select {
	case came := <-from:
		return came, nil
	case <-ctx.Done():
	case <-s.stopping:
	}
	return time.Time{}, givenUp
}
