package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	common "tollbooth/internal/load"
)

const (
	serviceOTLP  = "opentelemetry.proto.collector.trace.v1.TraceService"
	exportMethod = "/" + serviceOTLP + "/Export"
)

// A target that was killed is found again within a second.
var reconnecting = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
	MinConnectTimeout: common.ReachLimit,
}

// grpcConnection is OTLP over gRPC with many requests under way at the same time.
type grpcConnection struct{ *grpc.ClientConn }

func openGRPC(o *opener) (connection, error) {
	calls := []grpc.CallOption{grpc.ForceCodecV2(codec{})}
	if o.gzip {
		calls = append(calls, grpc.UseCompressor(gzip.Name))
	}
	opened, err := grpc.NewClient("passthrough:///"+o.dialer.target,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return o.dialer.dial(ctx) }),
		grpc.WithNoProxy(),
		grpc.WithDefaultCallOptions(calls...),
		grpc.WithConnectParams(reconnecting),
		// A request is sent once: what fails is recorded.
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		// A connection is kept while its worker waits.
		grpc.WithIdleTimeout(0),
		grpc.WithSharedWriteBuffer(true),
		grpc.WithReadBufferSize(o.buffer),
	)
	if err != nil {
		return nil, fmt.Errorf("opening a connection: %w", err)
	}
	return grpcConnection{opened}, nil
}

func (g grpcConnection) close() { _ = g.Close() }

func (g grpcConnection) send(ctx context.Context, timeout time.Duration, b *body) verdict {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var answered answer
	err := g.Invoke(ctx, exportMethod, b, &answered)
	switch code := status.Code(err); {
	case err == nil && answered.rejected == 0:
		b.release()
		return sentWell
	case err == nil:
		return verdict{sendError, codeRejected}
	case ctx.Err() == context.Canceled:
		return verdict{outcome: shutdown}
	case code == codes.DeadlineExceeded:
		return verdict{outcome: sendTimeout}
	default:
		return verdict{sendError, int(code)}
	}
}

// answer is what a target answers.
type answer struct{ rejected int64 }

// codec passes messages on as bytes: a body as it is, and what comes in to what reads it.
type codec struct{}

// reader reads a message that is valid during the call only.
type reader interface{ read([]byte) error }

// Name is part of the content type, which is protobuf's.
func (codec) Name() string { return "proto" }

// Marshal returns the message of a body, or an empty one.
func (codec) Marshal(value any) (mem.BufferSlice, error) {
	if b, has := value.(*body); has {
		return mem.BufferSlice{mem.SliceBuffer(b.bytes())}, nil
	}
	return nil, nil
}

// Unmarshal has a message read.
func (codec) Unmarshal(data mem.BufferSlice, value any) error {
	buffer := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buffer.Free()
	return value.(reader).read(buffer.ReadOnlyData())
}

func (a *answer) read(message []byte) (err error) {
	a.rejected, err = readAnswer(message)
	return err
}
