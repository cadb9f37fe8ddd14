package main

import (
	"strings"
	"testing"

	common "tollbooth/internal/load"
)

const whole = `{"format":"tollbooth.load","version":1,"target":"s1:9090","operation":"work","requests":10000,
 "concurrency":50,"requests_per_s":null,"error_probability":0.2,"first_counter":1}`

func TestALoadIsReadWhole(t *testing.T) {
	got, err := common.Parse[load]([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if got.Target != "s1:9090" || *got.Requests != 10000 || *got.Concurrency != 50 || *got.ErrorProbability != 0.2 {
		t.Errorf("read %+v", got)
	}
	if got.RequestsPerS != nil {
		t.Errorf("null was read as a number: %+v", got)
	}
}

func TestABrokenLoadIsRejectedByName(t *testing.T) {
	for _, broken := range []struct{ from, to, says string }{
		{`"s1:9090"`, `"s1"`, "target"},
		{`"work"`, `"wo,rk"`, "operation"},
		{`"concurrency":50`, `"concurrency":null`, "concurrency: must be given where requests_per_s is not"},
		{`"concurrency":50`, `"concurrency":0`, "concurrency"},
		{`"requests":10000`, `"requests":-1`, "requests"},
		{`"requests":10000`, `"requests":1000001`, "requests: must be at most 1000000"},
		{`0.2`, `1.5`, "error_probability"},
		{`"first_counter":1`, `"first_counter":4294960000`, "first_counter"},
		{`"operation"`, `"config"`, `unknown field "config"`},
	} {
		text := strings.Replace(whole, broken.from, broken.to, 1)
		if _, err := common.Parse[load]([]byte(text)); err == nil || !strings.Contains(err.Error(), broken.says) {
			t.Errorf("%s: got %v, want %q", broken.to, err, broken.says)
		}
	}
}
