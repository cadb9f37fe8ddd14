package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	protobufType  = "application/x-protobuf"
	jsonType      = "application/json"
	answerLimit   = 64 << 10
	idleKeepAlive = time.Hour
)

// httpConnection sends by HTTP. Its own client keeps one connection.
type httpConnection struct {
	client           *http.Client
	url, contentType string
	gzip             bool
}

// openHTTP opens connections for requests of one kind.
func openHTTP(path, contentType string) func(*opener) (connection, error) {
	return func(o *opener) (connection, error) {
		kept := &http.Transport{
			DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return o.dialer.dial(ctx) },
			MaxConnsPerHost:     1,
			MaxIdleConnsPerHost: 1,
			IdleConnTimeout:     idleKeepAlive,
			DisableCompression:  true,
			ReadBufferSize:      o.buffer,
			WriteBufferSize:     o.buffer,
		}
		return &httpConnection{&http.Client{Transport: kept}, "http://" + o.dialer.target + path, contentType, o.gzip}, nil
	}
}

func (h *httpConnection) close() { h.client.CloseIdleConnections() }

func (h *httpConnection) send(ctx context.Context, timeout time.Duration, b *body) verdict {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	message := b.bytes()
	if h.gzip {
		message = b.gzip(0)
	}
	status, rejected, err := h.post(ctx, message)
	switch {
	case err != nil && ctx.Err() == context.Canceled:
		return verdict{outcome: shutdown}
	case err != nil && (errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil):
		return verdict{outcome: sendTimeout}
	case err != nil:
		return verdict{sendError, codeNoAnswer}
	case status/100 != 2:
		return verdict{sendError, status}
	case rejected > 0:
		return verdict{sendError, codeRejected}
	}
	b.release()
	return sentWell
}

func (h *httpConnection) post(ctx context.Context, message []byte) (status int, rejected int64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(message))
	if err != nil {
		return 0, 0, err
	}
	request.Header.Set("Content-Type", h.contentType)
	if h.gzip {
		request.Header.Set("Content-Encoding", "gzip")
	}
	response, err := h.client.Do(request)
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, answerLimit))
	if err == nil && response.StatusCode/100 == 2 {
		rejected, err = readAnswer(answer)
	}
	return response.StatusCode, rejected, err
}
