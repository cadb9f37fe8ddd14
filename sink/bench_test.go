package main

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// What one span costs the sink, apart from the network: a complete request, the part of it that reads the spans, and
// reading and keeping as long as every trace is kept, which are the first 64.
func BenchmarkSpan(b *testing.B) {
	agent, err := os.ReadFile("testdata/otel-agent.pb")
	if err != nil {
		b.Fatal(err)
	}
	list := zipkinBatch(28)
	for _, c := range []struct {
		name    string
		p       protocol
		message []byte
		request request
	}{
		{"OTLP", otlpHTTP, agent, viaHTTP(gzipped(agent), "gzip")},
		{"Zipkin", zipkin, list, viaZipkin(list, "")},
	} {
		measure := func(name string, run func()) {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					run()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/28, "ns/span")
			})
		}
		s := newSink(behaviour{name: accept})
		s.traces.sample = 63
		handle := s.handler(c.p)
		measure("request", func() {
			r := httptest.NewRequest("POST", c.request.path, bytes.NewReader(c.request.body))
			for name, value := range c.request.header {
				r.Header.Set(name, value)
			}
			handle(httptest.NewRecorder(), r)
		})
		measure("read", func() { _, _, _ = c.p.read(c.message, 63, nil) })
		var found []rawSpan
		measure("keep", func() {
			_, found, _ = c.p.read(c.message, 0, found[:0])
			newTraces().keep(found)
		})
	}
}

// What counting duplicates adds to one span: new IDs, as random as those of a tracer.
func BenchmarkSpanDuplicates(b *testing.B) {
	agent, err := os.ReadFile("testdata/otel-agent.pb")
	if err != nil {
		b.Fatal(err)
	}
	seen, ids, last := newSeenIDs(seenLimit), []uint64(nil), uint64(0)
	for b.Loop() {
		ids = spanIDs(agent, ids[:0])
		for i := range ids {
			last++
			ids[i] = last * 0xbf58476d1ce4e5b9
		}
		seen.add(ids)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/28, "ns/span")
}

// zipkinBatch is a list of spans as Brave sends them.
func zipkinBatch(spans int) []byte {
	list := make([]string, spans)
	for i := range list {
		list[i] = fmt.Sprintf(`{"traceId":"6920f1e3%08x%016x","parentId":"6bd2c6ff5bf8e1a9","id":"%016x","kind":"SERVER",`+
			`"name":"http get /a1","timestamp":1795278913435967,"duration":12034,"localEndpoint":{"serviceName":"a1",`+
			`"ipv4":"172.19.0.2"},"remoteEndpoint":{"ipv4":"172.19.0.3","port":41000},"tags":{"exception":"none",`+
			`"http.url":"/a1","method":"GET","outcome":"SUCCESS","status":"200","uri":"/{route}"}}`, i, i*i+1, i+1)
	}
	return []byte("[" + strings.Join(list, ",") + "]")
}
