package main

import (
	"encoding/binary"
	"errors"
	"net/http"
	"strconv"
	"strings"
)

const exportPath = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

const framePrefix = 5 // one byte that says whether the message is compressed, four with its length

// otlpGRPC is OTLP over gRPC. A unary call is one HTTP/2 request and answer; this little of gRPC is all that a sink needs:
// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
var otlpGRPC = protocol{unwrap: unwrapGRPC, read: readOTLP, spanIDs: spanIDs, answer: answerGRPC}

// grpcHandler serves the one method that there is.
func (s *sink) grpcHandler() http.Handler {
	methods := http.NewServeMux()
	methods.Handle("POST "+exportPath, s.handler(otlpGRPC))
	methods.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		answerGRPC(w, &rejection{grpcStatus: grpcUnimplemented, reason: "this sink takes traces only"})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			http.Error(w, "this port takes OTLP over gRPC; over HTTP it is port 4318", http.StatusUnsupportedMediaType)
			return
		}
		methods.ServeHTTP(w, r)
	})
}

func unwrapGRPC(header http.Header, body []byte) ([]byte, bool, *rejection) {
	if len(body) < framePrefix || uint64(len(body)-framePrefix) != uint64(binary.BigEndian.Uint32(body[1:])) {
		return nil, false, malformed(errors.New("not one gRPC message"))
	}
	message := body[framePrefix:]
	switch body[0] {
	case 0:
		return message, false, nil
	case 1:
		compressed, rejected := isGzip(header.Get("Grpc-Encoding"))
		return message, compressed, rejected
	}
	return nil, false, malformed(errors.New("not a gRPC message"))
}

func answerGRPC(w http.ResponseWriter, r *rejection) {
	header := w.Header()
	header.Set("Content-Type", "application/grpc")
	if r != nil { // without a body these headers end the answer: gRPC's "Trailers-Only"
		header.Set("Grpc-Status", strconv.Itoa(r.grpcStatus))
		header.Set("Grpc-Message", r.reason)
		return
	}
	header.Set("Trailer", "Grpc-Status")
	_, _ = w.Write(make([]byte, framePrefix)) // an empty ExportTraceServiceResponse
	header.Set("Grpc-Status", "0")
}
