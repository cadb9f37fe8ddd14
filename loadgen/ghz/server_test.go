package main

import (
	"context"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bojand/ghz/protodesc"
	"github.com/jhump/protoreflect/dynamic"
	"google.golang.org/grpc"
)

// The one copy of the definition, in svc-b's folder.
var proto = filepath.Join("..", "..", "services", "svc-b", "src", "main", "proto", "mock.proto")

// server is a gRPC service that keeps the requests it received.
type server struct {
	address string
	stop    func()

	lock     sync.Mutex
	received []*dynamic.Message
	open     int
	atOnce   int // the most requests that were open together
}

// serve starts one that answers with what `answer` says of the request's counter; nil is OK.
func serve(t *testing.T, answer func(counter uint32) error) *server {
	t.Helper()
	method, err := protodesc.GetMethodDescFromProto(call, filepath.Base(proto), []string{filepath.Dir(proto)})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{address: listener.Addr().String()}
	handler := func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		request := dynamic.NewMessage(method.GetInputType())
		if err := decode(request); err != nil {
			return nil, err
		}
		s.begin(request)
		defer s.end()
		return dynamic.NewMessage(method.GetOutputType()), answer(field[uint32](request, "request_counter"))
	}
	grpcServer := grpc.NewServer()
	grpcServer.RegisterService(&grpc.ServiceDesc{
		ServiceName: "Service", Methods: []grpc.MethodDesc{{MethodName: "Mock", Handler: handler}},
	}, nil)
	s.stop = grpcServer.Stop
	t.Cleanup(s.stop)
	go func() { _ = grpcServer.Serve(listener) }()
	return s
}

func (s *server) begin(request *dynamic.Message) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.received = append(s.received, request)
	s.open++
	s.atOnce = max(s.atOnce, s.open)
}

func (s *server) end() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.open--
}

func field[T any](message *dynamic.Message, name string) T { return message.GetFieldByName(name).(T) }
