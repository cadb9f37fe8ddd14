package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
)

const (
	// HTTP/2 begins with these, until the peer's settings say otherwise: RFC 9113, 6.5.2 and 6.9.2.
	firstWindow = 65_535
	firstFrame  = 16_384
	// What was received is given back to the peer's window in steps of this size.
	windowStep = 16 << 10
	readBuffer = 512
)

var (
	errGoneAway  = errors.New("the target did not look at the request")
	errCancelled = errors.New("the target ended the stream")
	longAgo      = time.Unix(1, 0)
)

// unaryConnection is OTLP over gRPC for a worker, who has one request under way at a time. The worker's goroutine writes the
// request and reads the answer: the connection needs no goroutine and hardly any memory, where grpc-go's needs five
// goroutines and 80 KiB. Frames are read by golang.org/x/net/http2.
type unaryConnection struct {
	opener      *opener
	header      []byte   // of every request, compressed by HPACK
	socket      net.Conn // nil: not open
	interrupted func() bool
	reader      *bufio.Reader
	framer      *http2.Framer
	answer      grpcAnswer
	stream      uint32 // of the last request
	leaving     bool   // the target takes no more requests
	torn        bool   // a part of a frame was read
	window      int    // bytes that the target takes on the connection
	share       int    // of them, on the stream of the request
	firstShare  int
	frame       int // bytes that it takes in a frame
	taken       int // bytes that were received and not given back
}

func openUnary(o *opener) (connection, error) {
	return &unaryConnection{opener: o, header: requestHeader(o.dialer.target, o.gzip)}, nil
}

func (u *unaryConnection) close() {
	if u.socket != nil {
		u.interrupted()
		u.socket.Close()
		u.socket = nil
	}
}

// send sends a request. After a timeout the connection is kept, as gRPC does.
func (u *unaryConnection) send(ctx context.Context, timeout time.Duration, b *body) verdict {
	defer b.release() // whatever happens: what was written is a copy
	message, deadline := b.framed(u.opener.gzip), time.Now().Add(timeout)
	err := u.exchange(ctx, deadline, message)
	if errors.Is(err, errGoneAway) {
		err = u.exchange(ctx, deadline, message)
	}
	switch {
	case err == nil:
		return u.answer.verdict()
	case ctx.Err() != nil:
		u.close()
		return verdict{outcome: shutdown}
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		return verdict{outcome: sendTimeout}
	default:
		return verdict{sendError, int(codes.Unavailable)}
	}
}

// exchange sends a message and reads its answer. Its error says why there is none.
func (u *unaryConnection) exchange(ctx context.Context, deadline time.Time, message []byte) error {
	begin, err := u.ready(ctx, deadline)
	if err != nil {
		u.close()
		return err
	}
	u.stream += 2
	u.share = u.firstShare
	u.answer.reset()
	written, err := u.write(begin, message)
	for err == nil && !u.answer.ended {
		err = u.readFrame()
	}
	switch {
	case err == nil && written && !u.leaving:
	case errors.Is(err, os.ErrDeadlineExceeded) && written && !u.torn:
		u.cancel()
	case errors.Is(err, errCancelled) && written:
	default:
		u.close()
	}
	return err
}

// ready opens the connection unless it is open. It returns what has to be written before the request.
func (u *unaryConnection) ready(ctx context.Context, deadline time.Time) (begin []byte, err error) {
	if u.socket != nil {
		if err := u.socket.SetDeadline(deadline); err != nil {
			return nil, err
		}
		if u.usable() {
			return nil, ctx.Err()
		}
		u.close()
	}
	dialing, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	socket, err := u.opener.dialer.dial(dialing)
	if err != nil {
		return nil, err
	}
	begin = u.begin(ctx, socket)
	if err := socket.SetDeadline(deadline); err != nil {
		return nil, err
	}
	return begin, ctx.Err()
}

// begin begins a connection over a socket, which the end of the load interrupts.
func (u *unaryConnection) begin(load context.Context, socket net.Conn) []byte {
	u.socket, u.leaving, u.torn, u.taken = socket, false, false, 0
	u.stream = ^uint32(0) // the first one is 1
	u.window, u.firstShare, u.frame = firstWindow, firstWindow, firstFrame
	u.reader = bufio.NewReaderSize(socket, readBuffer)
	u.framer = http2.NewFramer(io.Discard, u.reader)
	u.interrupted = context.AfterFunc(load, func() { _ = socket.SetDeadline(longAgo) })
	return connectionPreface
}

// write writes a request, as fast as the target takes it. It returns false if the answer came first.
func (u *unaryConnection) write(begin, message []byte) (written bool, err error) {
	pooled := outputs.Get().(*[]byte)
	out := append((*pooled)[:0], begin...)
	defer func() {
		*pooled = out
		outputs.Put(pooled)
	}()
	if u.taken >= windowStep {
		out = appendFrame(out, http2.FrameWindowUpdate, 0, 0, binary.BigEndian.AppendUint32(nil, uint32(u.taken)))
		u.taken = 0
	}
	out = appendFrame(out, http2.FrameHeaders, http2.FlagHeadersEndHeaders, u.stream, u.header)
	for len(message) > 0 {
		size := min(len(message), u.frame, u.window, u.share)
		if size > 0 {
			flags := http2.Flags(0)
			if size == len(message) {
				flags = http2.FlagDataEndStream
			}
			out = appendFrame(out, http2.FrameData, flags, u.stream, message[:size])
			message, u.window, u.share = message[size:], u.window-size, u.share-size
		}
		if size <= 0 || len(out) > flushBytes || len(message) == 0 {
			if _, err := u.socket.Write(out); err != nil {
				return false, err
			}
			out = out[:0]
		}
		if size <= 0 { // until the target has made room
			if err := u.readFrame(); err != nil || u.answer.ended {
				return false, err
			}
		}
	}
	return true, nil
}

// nextFrame reads a frame. If the deadline passes before it has come, it is read later: nearly all fit into the buffer.
func (u *unaryConnection) nextFrame() (http2.Frame, error) {
	begin, err := u.reader.Peek(frameHeaderBytes)
	if err != nil {
		return nil, err
	}
	length := int(begin[0])<<16 | int(begin[1])<<8 | int(begin[2])
	if _, err := u.reader.Peek(min(frameHeaderBytes+length, readBuffer)); err != nil {
		return nil, err
	}
	read, err := u.framer.ReadFrame()
	u.torn = err != nil
	return read, err
}

// readFrame reads one frame, and does what it says.
func (u *unaryConnection) readFrame() error {
	read, err := u.nextFrame()
	if err != nil {
		return err
	}
	own := read.Header().StreamID == u.stream
	switch frame := read.(type) {
	case *http2.SettingsFrame:
		return u.settings(frame)
	case *http2.PingFrame:
		if !frame.IsAck() {
			return u.control(http2.FramePing, http2.FlagPingAck, 0, frame.Data[:])
		}
	case *http2.WindowUpdateFrame:
		if own {
			u.share += int(frame.Increment)
		} else if frame.StreamID == 0 {
			u.window += int(frame.Increment)
		}
	case *http2.GoAwayFrame:
		u.leaving = true
		if frame.LastStreamID < u.stream {
			return errGoneAway
		}
	case *http2.RSTStreamFrame:
		if own && frame.ErrCode == http2.ErrCodeRefusedStream {
			return errGoneAway
		}
		if own {
			return errCancelled
		}
	case *http2.DataFrame:
		u.taken += int(frame.Length)
		if own {
			u.answer.data(frame.Data(), frame.StreamEnded())
		}
	case *http2.HeadersFrame:
		return u.answer.headers(frame.HeaderBlockFragment(), frame.HeadersEnded(), own, frame.StreamEnded())
	case *http2.ContinuationFrame:
		return u.answer.headers(frame.HeaderBlockFragment(), frame.HeadersEnded(), own, false)
	}
	return nil
}

// settings takes the target's settings.
func (u *unaryConnection) settings(frame *http2.SettingsFrame) error {
	if frame.IsAck() {
		return nil
	}
	if window, given := frame.Value(http2.SettingInitialWindowSize); given {
		u.share += int(window) - u.firstShare
		u.firstShare = int(window)
	}
	if size, given := frame.Value(http2.SettingMaxFrameSize); given {
		u.frame = int(size)
	}
	return u.control(http2.FrameSettings, http2.FlagSettingsAck, 0, nil)
}

// cancel ends the stream of a request that is no longer waited for.
func (u *unaryConnection) cancel() {
	err := u.socket.SetDeadline(time.Now().Add(time.Second))
	if err == nil {
		err = u.control(http2.FrameRSTStream, 0, u.stream, binary.BigEndian.AppendUint32(nil, uint32(http2.ErrCodeCancel)))
	}
	if err != nil {
		u.close()
	}
}

func (u *unaryConnection) control(kind http2.FrameType, flags http2.Flags, stream uint32, payload []byte) error {
	_, err := u.socket.Write(appendFrame(nil, kind, flags, stream, payload))
	return err
}

// usable says whether a kept connection takes another request. It first reads what came since the last one.
func (u *unaryConnection) usable() bool {
	for {
		came, open := pending(u.socket)
		switch {
		case !open:
			return false
		case !came && u.reader.Buffered() == 0:
			return !u.leaving
		}
		if err := u.readFrame(); err != nil && !errors.Is(err, errCancelled) {
			return false
		}
	}
}

// pending says whether a socket has something to read, and whether it is open. It does not wait.
func pending(socket net.Conn) (came, open bool) {
	raw, err := socket.(syscall.Conn).SyscallConn()
	if err != nil {
		return false, false
	}
	err = raw.Read(func(fd uintptr) bool {
		var next [1]byte
		n, _, err := syscall.Recvfrom(int(fd), next[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		came = n > 0
		open = came || errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR)
		return true
	})
	return came, open && err == nil
}
