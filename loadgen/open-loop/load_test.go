package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	common "tollbooth/internal/load"
	"tollbooth/internal/requests"
)

const complete = `{"format":"tollbooth.load","version":1,"requests":100,"duration_s":null,"requests_per_s":200,
 "arrivals":"fixed","routes":["a1","a2"],"seed":7,"error_probability":0.2,"max_in_flight":50}`

func parsed(t *testing.T, text string) load {
	t.Helper()
	found, err := common.Parse[load]([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestEveryFieldOfALoadIsRead(t *testing.T) {
	got := parsed(t, complete)
	if *got.Requests != 100 || *got.RequestsPerS != 200 || got.Arrivals != "fixed" || got.Seed != 7 ||
		!slices.Equal(got.Routes, []string{"a1", "a2"}) || *got.ErrorProbability != 0.2 || got.inFlight() != 50 {
		t.Errorf("read %+v", got)
	}
}

func TestABrokenLoadIsNamedByItsFieldInOneLine(t *testing.T) {
	for _, broken := range []struct{ from, to, says string }{
		{`"version":1`, `"version":2`, "version 2, not tollbooth.load version 1"},
		{`"requests_per_s":200`, `"requests_per_s":null`, "requests_per_s: must be given"},
		{`"requests_per_s":200`, `"requests_per_s":100001`, "requests_per_s: must be given, at most 100000"},
		{`"fixed"`, `"bursts"`, `arrivals: must be "fixed" or "poisson"`},
		{`["a1","a2"]`, `[]`, "routes: must have at least one"},
		{`"a2"`, `"a2 HTTP/1.1\r\nHost: elsewhere"`, "routes: "},
		{`"a2"`, `"http://elsewhere"`, "routes: "},
		{`"seed":7`, `"seed":-1`, "seed"},
		{`0.2`, `1.5`, "error_probability: must be from 0 to 1"},
		{`"max_in_flight":50`, `"max_in_flight":10001`, "max_in_flight: must be from 1 to 10000"},
		{`"requests":100,`, `"requests":3000001,`, "duration: is 15000 s, at most 3600 s"},
		{`"requests":100,"duration_s":null`, `"duration_s":3601`, "duration: is 3601 s, at most 3600 s"},
		{`"requests":100,"duration_s":null,"requests_per_s":200`, `"duration_s":3600,"requests_per_s":1000`,
			"requests: are 3600000, at most 3000000"},
		{`"seed"`, `"target":"elsewhere:80","seed"`, `unknown field "target"`},
	} {
		_, err := common.Parse[load]([]byte(strings.Replace(complete, broken.from, broken.to, 1)))
		if err == nil || !strings.Contains(err.Error(), broken.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q", broken.to, err, broken.says)
		}
	}
}

func TestTheLastLoadNeedsNoOtherFields(t *testing.T) {
	if !parsed(t, `{"format":"tollbooth.load","version":1,"requests":0}`).Last() {
		t.Error("it is not the last")
	}
}

func TestFixedArrivalsAreDueAtExactTimes(t *testing.T) {
	rows := parsed(t, complete).schedule()
	if len(rows) != 100 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows {
		if want := int64(i) * 5_000_000; row.Intended != want {
			t.Errorf("request %d is due after %d ns, want %d", i, row.Intended, want)
		}
	}
}

func TestADurationEndsTheSchedule(t *testing.T) {
	timed := strings.Replace(complete, `"requests":100,"duration_s":null`, `"duration_s":10`, 1)
	if got := len(parsed(t, timed).schedule()); got != 2000 {
		t.Errorf("fixed: %d requests", got)
	}
	rows := parsed(t, strings.Replace(timed, "fixed", "poisson", 1)).schedule()
	// Five standard deviations of 2000 are 224.
	if len(rows) < 1776 || len(rows) > 2224 || rows[len(rows)-1].Intended >= (10*time.Second).Nanoseconds() {
		t.Errorf("poisson: %d requests, the last %+v", len(rows), rows[len(rows)-1])
	}
}

func TestASeedMakesOneSchedule(t *testing.T) {
	poisson := strings.Replace(complete, "fixed", "poisson", 1)
	first := parsed(t, poisson).schedule()
	if !slices.Equal(first, parsed(t, poisson).schedule()) {
		t.Error("the same seed made two schedules")
	}
	other := parsed(t, strings.Replace(poisson, `"seed":7`, `"seed":8`, 1)).schedule()
	if slices.Equal(first, other) {
		t.Error("two seeds made the same schedule")
	}
	oneRoute := parsed(t, strings.Replace(poisson, `["a1","a2"]`, `["a1"]`, 1)).schedule()
	same := func(a, b requests.Row) bool { return a.Intended == b.Intended }
	if !slices.EqualFunc(first, oneRoute, same) {
		t.Error("the number of routes changed the arrivals")
	}
}

func TestEveryRouteIsTakenOnceBeforeOneIsRepeated(t *testing.T) {
	rows := parsed(t, complete).schedule()
	for i := 0; i < len(rows); i += 2 {
		if rows[i].Target == rows[i+1].Target {
			t.Fatalf("requests %d and %d have the same route", i, i+1)
		}
	}
}
