package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// A client that streams takes long to send a body.
func TestFifteenSlowBodiesLeaveAReaderForAQuickOne(t *testing.T) {
	const streams = 15
	s, body := start(t, accept, time.Second), threeSpans()
	var connections []net.Conn
	for range streams {
		connection, err := net.Dial("tcp", s.addresses[httpPort])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { connection.Close() })
		fmt.Fprintf(connection, "POST /v1/traces HTTP/1.1\r\nHost: sink\r\nContent-Type: %s\r\n"+
			"Transfer-Encoding: chunked\r\n\r\n", protobufType)
		sendChunk(connection, body[:1])
		connections = append(connections, connection)
	}
	s.until("a reader for each", func(counts) bool { return len(s.sink.readers) == readerLimit-streams })
	if got := outcome(s.send(viaHTTP(body, ""))); got != "accepted" {
		t.Errorf("answer is %s", got)
	}
	s.expectSpans(3, 0)
	for _, connection := range connections {
		sendChunk(connection, body[1:])
		sendChunk(connection, nil) // the last one is empty
		got, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
		if got.StatusCode != http.StatusOK {
			t.Errorf("answer is %s", got.Status)
		}
	}
	s.expectSpans(3*(streams+1), 0)
}

// A sender does not repeat what is malformed.
func TestABodyThatTakesTooLongMayBeSentAgain(t *testing.T) {
	for name, r := range requests() {
		t.Run(name, func(t *testing.T) {
			s := start(t, accept, time.Second)
			s.sink.readLimit = 50 * time.Millisecond
			body, sender := io.Pipe()
			t.Cleanup(func() { sender.Close() })
			go func() { _, _ = sender.Write(r.body[:1]) }()
			got, err := s.stream(t.Context(), r, body)
			if err != nil {
				t.Fatal(err)
			}
			if got := outcome(got); got != "unavailable" {
				t.Errorf("answer is %s", got)
			}
			s.expectSpans(0, 0)
		})
	}
}

func TestTheAnswerDoesNotWaitForTheRestOfABodyThatTakesTooLong(t *testing.T) {
	s, body := start(t, accept, time.Second), threeSpans()
	s.sink.readLimit = 50 * time.Millisecond
	connection, err := net.Dial("tcp", s.addresses[httpPort])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	fmt.Fprintf(connection, "POST /v1/traces HTTP/1.1\r\nHost: sink\r\nContent-Type: %s\r\n"+
		"Content-Length: %d\r\n\r\n%s", protobufType, len(body), body[:1])
	if err := connection.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	got, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	got.Body.Close()
	if got.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("answer is %s", got.Status)
	}
}

func sendChunk(connection net.Conn, content []byte) {
	fmt.Fprintf(connection, "%x\r\n%s\r\n", len(content), content)
}
