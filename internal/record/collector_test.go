package record

import (
	"os"
	"testing"

	"tollbooth/internal/otelcol"
	"tollbooth/internal/parse"
)

// The reader's tests, in Python, read the same file.
const collectorGolden = "../../fixtures/collector.v1.jsonl"

func TestEveryKindOfScrapeIsAsInTheSharedFixture(t *testing.T) {
	want, err := os.ReadFile(collectorGolden)
	if err != nil {
		t.Fatal(err)
	}
	none := otelcol.Counters{
		AcceptedSpans: parse.Known(0), RefusedSpans: parse.Known(0), SentSpans: parse.Known(0),
		SendFailedSpans: parse.Known(0), EnqueueFailedSpans: parse.Known(0), ProcessRSSBytes: parse.Known(50 << 20),
	}
	edge := none
	edge.AcceptedSpans, edge.SentSpans, edge.ProcessRSSBytes = parse.Known(800), parse.Known(700), parse.Known(40<<20)
	edge.QueueSize, edge.QueueCapacity = parse.Known(2), parse.Known(5000)
	all := otelcol.Counters{
		AcceptedSpans: parse.Known(40_000), RefusedSpans: parse.Known(12), SentSpans: parse.Known(38_000),
		SendFailedSpans: parse.Known(5), EnqueueFailedSpans: parse.Known(7), ReceivedBytes: parse.Known(6_100_000),
		QueueSize: parse.Known(3), QueueCapacity: parse.Known(1000), ProcessRSSBytes: parse.Known(60 << 20),
	}

	got := AppendCollectorHeader(nil, 1_000_000_000, t0)
	for _, scrape := range []Scrape{
		{TNs: t0 + 100_000_000, Name: "collector", FailedScrapes: 1, Fault: `Get "http://collector:8888/metrics": connection refused`},
		{TNs: t0 + 1_100_000_000, Name: "collector", FailedScrapes: 1, Counters: none},
		{TNs: t0 + 1_200_000_000, Name: "edge-1", Counters: edge},
		{TNs: t0 + 2_100_000_000, Name: "collector", FailedScrapes: 1, Counters: all},
	} {
		got = AppendScrape(got, &scrape)
	}
	if string(got) != string(want) {
		t.Errorf("the record is\n%s\nwant\n%s", got, want)
	}
}
