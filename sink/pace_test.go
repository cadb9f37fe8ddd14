package main

import (
	"context"
	"testing"
	"time"
)

func TestSpansThatComeFasterWaitInLine(t *testing.T) {
	var free time.Time
	now := time.Unix(1_700_000_000, 0)
	for _, c := range []struct {
		after time.Duration
		spans int
		want  time.Duration
	}{
		{0, 100, 100 * time.Millisecond},
		{0, 50, 150 * time.Millisecond},
		{100 * time.Millisecond, 50, 100 * time.Millisecond},
		{time.Second, 0, -100 * time.Millisecond},
		{2 * time.Second, 10, -90 * time.Millisecond}, // what was not used just before is made up for
		{2 * time.Second, 110, 20 * time.Millisecond}, // what was not used earlier is lost
	} {
		at := now.Add(c.after)
		free = servedAt(free, at, c.spans, 1000)
		if got := free.Sub(at); got != c.want {
			t.Errorf("%d spans after %v are served after %v more, want %v", c.spans, c.after, got, c.want)
		}
	}
}

// inLine returns what becomes of spans that a limited sink gets from now on.
func inLine(ctx context.Context, s *sink, spans int, perS float64) <-chan *rejection {
	ended := make(chan *rejection, 1)
	go func() { ended <- s.behave(ctx, &behaviour{name: limited, spansPerS: perS}, spans) }()
	return ended
}

// awaitTurn returns when spans are being served.
func awaitTurn(t *testing.T, s *sink) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); len(s.line) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no spans are served")
		}
	}
}

func TestTheTimeOfSpansThatGiveUpIsNotSoldTwice(t *testing.T) {
	const perS, behind, each, patience = 20_000, 4000, 100, 400 * time.Millisecond
	s := newSink(behaviour{name: accept})
	ctx, giveUp := context.WithTimeout(context.Background(), patience)
	defer giveUp()
	gaveUp, _ := ctx.Deadline()
	first := inLine(ctx, s, 10_000, perS) // half a second
	awaitTurn(t, s)
	second := inLine(context.Background(), s, behind, perS)
	if got := <-first; got != givenUp {
		t.Fatalf("the first spans ended with %v", got)
	}
	served := 0
	for waiting := true; waiting; {
		if got := <-inLine(context.Background(), s, each, perS); got != nil {
			t.Fatal(got.reason)
		}
		served += each
		select {
		case got := <-second:
			if got != nil {
				t.Fatal(got.reason)
			}
			served += behind
			waiting = false
		default:
		}
		if after := time.Since(gaveUp); float64(served) > perS*(after+grace).Seconds() {
			t.Fatalf("%d spans were served in %v", served, after)
		}
	}
}

func TestSpansThatGiveUpHoldNobodyBack(t *testing.T) {
	s := newSink(behaviour{name: accept})
	ctx, giveUp := context.WithCancel(context.Background())
	served := inLine(ctx, s, 1_000_000, 1000)
	awaitTurn(t, s)
	inTheLine := inLine(ctx, s, 1_000_000, 1000)
	giveUp()
	if got := []*rejection{<-served, <-inTheLine}; got[0] != givenUp || got[1] != givenUp {
		t.Errorf("they ended with %v", got)
	}
	patient, end := context.WithTimeout(context.Background(), 10*time.Second)
	defer end()
	if got := <-inLine(patient, s, 10, 1000); got != nil {
		t.Errorf("10 spans behind them: %s", got.reason)
	}
}

func TestALimitedSinkAnswersAtItsRate(t *testing.T) {
	for name, r := range requests() {
		t.Run(name, func(t *testing.T) {
			s := start(t, limited, time.Second)
			began := time.Now()
			for range 5 {
				if got := outcome(s.send(r)); got != "accepted" {
					t.Errorf("answer is %s", got)
				}
			}
			// Fifteen spans at 100 per second.
			if took := time.Since(began); took < 150*time.Millisecond {
				t.Errorf("it took %v", took)
			}
			s.expectSpans(15, 0)
		})
	}
}
