package main

import (
	"strings"
	"testing"

	common "tollbooth/internal/load"
)

const complete = `{"format":"tollbooth.load","version":1,"requests":100,"concurrency":8,"routes":["a1","a2"]}`

func TestEveryFieldOfALoadIsRead(t *testing.T) {
	got, err := common.Parse[load]([]byte(complete))
	if err != nil {
		t.Fatal(err)
	}
	if *got.Requests != 100 || got.Concurrency != 8 || len(got.Routes) != 2 {
		t.Errorf("read %+v", got)
	}
}

func TestTheLastLoadNeedsNoOtherFields(t *testing.T) {
	if got, err := common.Parse[load]([]byte(`{"format":"tollbooth.load","version":1,"requests":0}`)); err != nil || !got.Last() {
		t.Errorf("read %+v, error %v", got, err)
	}
}

func TestABrokenLoadIsNamedByItsFieldInOneLine(t *testing.T) {
	for _, broken := range []struct{ from, to, says string }{
		{`"version":1`, `"version":2`, "version 2, not tollbooth.load version 1"},
		{`"routes"`, `"requests_per_s":20,"routes"`, "requests_per_s: must not be given, this is a closed loop"},
		{`"concurrency":8`, `"concurrency":0`, "concurrency: must be from 1 to 1000"},
		{`"concurrency":8`, `"concurrency":1001`, "concurrency: must be from 1 to 1000"},
		{`"requests":100`, `"requests":7`, "requests: must be from concurrency to 1500000"},
		{`"requests":100`, `"requests":1500001`, "requests: must be from concurrency to 1500000"},
		{`"requests":100`, `"duration_s":601`, "duration_s: must be at most 600"},
		{`["a1","a2"]`, `[]`, "routes: must have at least one"},
		{`"a2"`, `"http://elsewhere"`, "routes: "},
		{`"routes"`, `"target":"elsewhere:80","routes"`, `unknown field "target"`},
	} {
		_, err := common.Parse[load]([]byte(strings.Replace(complete, broken.from, broken.to, 1)))
		if err == nil || !strings.Contains(err.Error(), broken.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q", broken.to, err, broken.says)
		}
	}
}
