package otelcol

import (
	"os"
	"strings"
	"testing"

	"tollbooth/internal/parse"
)

// The texts in testdata are shortened, and their values made up. Names, units and labels are as those releases write them.
func TestEachReleasesMetricsAreSummedOverTheirLabels(t *testing.T) {
	for release, want := range map[string]Counters{
		"0.111.0": {
			AcceptedSpans: parse.Known(1_286_000), RefusedSpans: parse.Known(12), SentSpans: parse.Known(1_285_000),
			SendFailedSpans: parse.Known(5), EnqueueFailedSpans: parse.Known(0),
			QueueSize: parse.Known(3), QueueCapacity: parse.Known(2000), ProcessRSSBytes: parse.Known(121_028_608),
		},
		"0.140.0": {
			AcceptedSpans: parse.Known(172_940), RefusedSpans: parse.Known(640), SentSpans: parse.Known(167_300),
			SendFailedSpans: parse.Known(0), EnqueueFailedSpans: parse.Known(640), ReceivedBytes: parse.Known(26_412_345),
			QueueSize: parse.Known(5000), QueueCapacity: parse.Known(5000), ProcessRSSBytes: parse.Known(232_247_296),
		},
		"0.149.0": {
			AcceptedSpans: parse.Known(1000), RefusedSpans: parse.Known(0), SentSpans: parse.Known(900),
			SendFailedSpans: parse.Known(34), EnqueueFailedSpans: parse.Known(0),
			QueueSize: parse.Known(12), QueueCapacity: parse.Known(1000), ProcessRSSBytes: parse.Known(37_490_688),
		},
	} {
		text, err := os.ReadFile("testdata/" + release + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", release, got, err, want)
		}
	}
}

func TestACounterThatNeverCountedIs0AndAGaugeThatIsMissingIsUnknown(t *testing.T) {
	got, err := Parse([]byte("otelcol_process_memory_rss 1024\n"))
	want := Counters{
		AcceptedSpans: parse.Known(0), RefusedSpans: parse.Known(0), SentSpans: parse.Known(0),
		SendFailedSpans: parse.Known(0), EnqueueFailedSpans: parse.Known(0), ProcessRSSBytes: parse.Known(1024),
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestEveryFormOfASampleIsRead(t *testing.T) {
	for sample, want := range map[string]uint64{
		`otelcol_receiver_accepted_spans 7`:                                          7,
		"otelcol_receiver_accepted_spans\t7":                                         7,
		`otelcol_receiver_accepted_spans{} 7`:                                        7,
		`otelcol_receiver_accepted_spans {receiver="otlp"} 7`:                        7,
		`otelcol_receiver_accepted_spans{receiver="otlp",} 7 1760000000000`:          7,
		`otelcol_receiver_accepted_spans{receiver="a}b\"} 9"} 7`:                     7,
		`otelcol_receiver_accepted_spans{receiver="a\\"} 7`:                          7,
		"otelcol_receiver_accepted_spans 7\notelcol_receiver_accepted_spans_total 2": 9,
		`otelcol_receiver_accepted_spans_total 9.007199254740991e+15`:                9_007_199_254_740_991,
	} {
		got, err := Parse([]byte(sample))
		if err != nil || got.AcceptedSpans.Value != want {
			t.Errorf("%s: %+v, %v", sample, got.AcceptedSpans, err)
		}
	}
}

func TestABrokenSampleIsNamed(t *testing.T) {
	for sample, want := range map[string]string{
		"":                   "has no metric of a Collector",
		"<html>moved</html>": "has no metric of a Collector",
		"otelcol_receiver_accepted_log_records 7": "has no metric of a Collector",
		`otelcol_exporter_sent_spans`:             `"" is not a number`,
		`otelcol_exporter_sent_spans many`:        `"many" is not a number`,
		`otelcol_exporter_sent_spans{exporter="o`: `"" is not a number`,
		`otelcol_exporter_sent_spans NaN`:         "NaN is not a count",
		`otelcol_exporter_sent_spans +Inf`:        "+Inf is not a count",
		`otelcol_exporter_sent_spans -1`:          "-1 is not a count",
		`otelcol_exporter_sent_spans 1e300`:       "1e+300 is not a count",
	} {
		got, err := Parse([]byte(sample + "\n"))
		if err == nil || !strings.Contains(err.Error(), want) || got != (Counters{}) {
			t.Errorf("%q: %+v, %v", sample, got, err)
		}
	}
}
