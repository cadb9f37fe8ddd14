package main

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	common "tollbooth/internal/load"
	"tollbooth/internal/requests"
)

const complete = `{"format":"tollbooth.load","version":1,"requests":100,"duration_s":null,"requests_per_s":200,
 "arrivals":"fixed","routes":["a1","a2"],"seed":7,"error_probability":0.2}`

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
		!slices.Equal(got.Routes, []string{"a1", "a2"}) || *got.ErrorProbability != 0.2 {
		t.Errorf("read %+v", got)
	}
}

const closed = `{"format":"tollbooth.load","version":1,"requests":100,"concurrency":8,"routes":["a1"]}`

func TestABrokenClosedLoopIsNamedByItsFieldInOneLine(t *testing.T) {
	for _, broken := range []struct{ from, to, says string }{
		{`"concurrency":8`, `"concurrency":0`, "concurrency: must be from 1 to 1000"},
		{`"concurrency":8`, `"concurrency":1001`, "concurrency: must be from 1 to 1000"},
		{`"concurrency":8`, `"concurrency":null`, "requests_per_s: must be given, at most 100000, or else concurrency"},
		{`"routes"`, `"requests_per_s":20,"routes"`, "requests_per_s: must not be given with concurrency"},
		{`"routes"`, `"arrivals":"fixed","routes"`, "arrivals: must not be given with concurrency"},
		{`"routes"`, `"starts_ns":[0],"routes"`, "starts_ns: must not be given with concurrency"},
		{`["a1"]`, `[]`, "routes: must have at least one"},
		{`"requests":100`, `"requests":3000001`, "requests: are 3000001, at most 3000000"},
		{`"requests":100`, `"duration_s":3601`, "duration: is 3601 s, at most 3600 s"},
	} {
		_, err := common.Parse[load]([]byte(strings.Replace(closed, broken.from, broken.to, 1)))
		if err == nil || err.Error() != broken.says {
			t.Errorf("%s: got %v, want %q", broken.to, err, broken.says)
		}
	}
	if got := *parsed(t, closed).Concurrency; got != 8 {
		t.Errorf("read a concurrency of %d", got)
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
		{`"seed"`, `"trace_flags":"1","seed"`, `trace_flags: must be "00" or "01"`},
		{`"requests":100,`, `"requests":3000001,`, "duration: is 15000 s, at most 3600 s"},
		{`"requests":100,"duration_s":null`, `"duration_s":3601`, "duration: is 3601 s, at most 3600 s"},
		{`"requests":100,"duration_s":null,"requests_per_s":200`, `"duration_s":3600,"requests_per_s":1000`,
			"requests: are 3600000, at most 3000000"},
		{`"seed"`, `"target":"elsewhere:80","seed"`, `unknown field "target"`},
		{`"seed"`, `"starts_ns":[],"seed"`, "starts_ns: must have from 1 to 10000 times"},
		{`"seed"`, `"starts_ns":[` + strings.Repeat("0,", 10_000) + `0],"seed"`,
			"starts_ns: must have from 1 to 10000 times"},
		{`"seed"`, `"starts_ns":[5000000000,5000000000],"seed"`, "starts_ns: time 2 of 2 is not after the one before it"},
		{`"seed"`, `"starts_ns":[0,5000000000,-1],"seed"`, "starts_ns: time 3 of 3 is not after the one before it"},
		{`"seed"`, `"starts_ns":[0,1000000000,1495000000],"seed"`,
			"starts_ns: slice 2 lasts 495ms, but the next one starts after 495ms"},
		{`"seed"`, `"starts_ns":[0.5],"seed"`, "starts_ns"},
		{`"requests":100,"duration_s":null`, `"duration_s":10,"starts_ns":[0]`,
			"duration_s: must not be given with starts_ns, which needs requests"},
		{`"requests":100,`, `"requests":600000,"starts_ns":[0,1,2,3,4,5],`, "requests: are 3600000, at most 3000000"},
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

// sliced is a load of slices of 100 requests at 200/s.
func sliced(t *testing.T, arrivals string, startsNs ...int64) load {
	t.Helper()
	found := parsed(t, strings.Replace(complete, "fixed", arrivals, 1))
	found.StartsNs = startsNs
	if err := found.Check(); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestSlicesThatCannotBeSentInTimeAreNamed(t *testing.T) {
	const first, last = 1_760_000_000_000_000_000, 1_760_000_060_000_000_000
	twoSlices := sliced(t, "fixed", first, last)
	for _, c := range []struct {
		now  int64
		says string
	}{
		{first, ""},
		{first + 1_234_000_000, "starts_ns: the first slice's start was 1.234 s ago"},
		{last - 3_600_000_000_000, ""},
		{last - 3_601_000_000_000, "starts_ns: the last slice starts in 3601 s, at most 3600 s"},
	} {
		says := ""
		if err := twoSlices.checkStarts(c.now); err != nil {
			says = err.Error()
		}
		if says != c.says {
			t.Errorf("%v before the first start: %q, want %q", time.Duration(first-c.now), says, c.says)
		}
	}
	if err := parsed(t, complete).checkStarts(last); err != nil {
		t.Errorf("a load without slices: %v", err)
	}
}

func TestEachSliceHasItsRequestsFromItsStartOn(t *testing.T) {
	const every = 2_000_000_000
	rows := sliced(t, "fixed", 1e18, 1e18+every, 1e18+3*every).schedule()
	if len(rows) != 300 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows {
		if want := []int64{0, every, 3 * every}[i/100] + int64(i%100)*5_000_000; row.Intended != want {
			t.Errorf("request %d is due after %d ns, want %d", i, row.Intended, want)
		}
	}
}

func TestEachSliceDrawsItsOwnArrivals(t *testing.T) {
	const every = 10_000_000_000
	due := func(rows []requests.Row, slice int) (found []int64) {
		for _, row := range rows[slice*100 : (slice+1)*100] {
			found = append(found, row.Intended-int64(slice)*every)
		}
		return found
	}
	two := sliced(t, "poisson", 1e18, 1e18+every).schedule()
	three := sliced(t, "poisson", 2e18, 2e18+every, 2e18+2*every).schedule()
	if !slices.Equal(two, three[:200]) {
		t.Error("a slice's arrivals depend on more than the seed and its number")
	}
	if slices.Equal(due(three, 0), due(three, 1)) || slices.Equal(due(three, 1), due(three, 2)) {
		t.Error("two slices have the same arrivals")
	}
}

func TestARequestThatIsDueInTheNextSliceIsSentInTime(t *testing.T) {
	const every = 500_000_000 // as long as the mean slice
	l := sliced(t, "poisson", 1e18, 1e18+every)
	l.Seed = 1 // with which the first slice's last requests are late
	rows := l.schedule()
	if !slices.IsSortedFunc(rows, func(a, b requests.Row) int { return cmp.Compare(a.Intended, b.Intended) }) {
		t.Error("the schedule is not in order")
	}
	early := 0
	for _, row := range rows {
		if row.Intended < every {
			early++
		}
	}
	if len(rows) != 200 || early >= 100 {
		t.Errorf("%d rows, %d before the second slice's start", len(rows), early)
	}
}
