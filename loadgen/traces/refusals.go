package main

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

// refusals counts the RPCs whose message gRPC itself rejects, because of its encoding or size: it never comes to `take`,
// which counts the others.
type refusals struct{ *receiver }

// reachedKey finds in an RPC's context whether its message has come to the handler.
type reachedKey struct{}

// reached is where that is kept. An RPC is served by one goroutine.
func reached(ctx context.Context) *bool { return ctx.Value(reachedKey{}).(*bool) }

// TagRPC begins an RPC.
func (refusals) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	return context.WithValue(ctx, reachedKey{}, new(bool))
}

// HandleRPC counts an RPC that ends without a message. If there was none at all, its error is nil.
func (r refusals) HandleRPC(ctx context.Context, event stats.RPCStats) {
	end, ended := event.(*stats.End)
	if ended && !*reached(ctx) && !brokenOff(end.Error) {
		r.rejected.Add(1)
	}
}

// brokenOff reports whether the sender gave up, or the connection broke: nothing is wrong with the data then.
func brokenOff(err error) bool {
	switch status.Code(err) {
	case codes.Canceled, codes.DeadlineExceeded, codes.Unavailable:
		return true
	}
	return false
}

// TagConn does nothing: connections are not looked at.
func (refusals) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn does nothing.
func (refusals) HandleConn(context.Context, stats.ConnStats) {}
