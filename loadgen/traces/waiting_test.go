package main

import (
	"sync"
	"testing"
)

// isComplete says whether the waiter was notified, and takes the message.
func isComplete(w *waiter) bool {
	select {
	case <-w.complete:
		return true
	default:
		return false
	}
}

func TestAWorkerIsNotifiedWhenTheLastSpanHasCome(t *testing.T) {
	w, by, id := newWaiting(), newWaiter(), traceID{1}
	w.expect(id, 5, by)
	if w.arrived([]part{{id, 2}, {id, 2}}, 10) != 0 || isComplete(by) {
		t.Error("notified after 4 of 5 spans")
	}
	if w.arrived([]part{{id, 1}}, 20) != 0 || !isComplete(by) || by.got != 5 || by.last != 20 {
		t.Errorf("not notified after 5 of 5 spans: %+v", by)
	}
	if w.arrived([]part{{id, 5}}, 30) != 0 || isComplete(by) || by.got != 10 || by.last != 20 {
		t.Errorf("spans that came twice: %+v", by)
	}
}

func TestWhatNobodyWaitsForIsCounted(t *testing.T) {
	w, by, id := newWaiting(), newWaiter(), traceID{1}
	if found := w.arrived([]part{{id, 3}, {traceID{2}, 4}}, 1); found != 7 {
		t.Errorf("%d spans", found)
	}
	w.expect(id, 3, by)
	w.forget(id, by)
	if found := w.arrived([]part{{id, 3}}, 1); found != 3 || by.got != 0 {
		t.Errorf("%d spans, %+v", found, by)
	}
}

func TestAMessageForAnEarlierTraceIsForgottenWithIt(t *testing.T) {
	w, by := newWaiting(), newWaiter()
	w.expect(traceID{1}, 1, by)
	w.arrived([]part{{traceID{1}, 1}}, 1)
	w.forget(traceID{1}, by)
	w.expect(traceID{2}, 1, by)
	if isComplete(by) {
		t.Error("notified of a trace before it came")
	}
}

func TestManyWorkersWaitAtTheSameTime(t *testing.T) {
	w := newWaiting()
	var workers sync.WaitGroup
	for number := range 100 {
		workers.Go(func() {
			by := newWaiter()
			for i := range 100 {
				id := traceID{byte(number), byte(i)}
				w.expect(id, 2, by)
				go w.arrived([]part{{id, 1}}, 1)
				go w.arrived([]part{{id, 1}}, 1)
				<-by.complete
				w.forget(id, by)
			}
		})
	}
	workers.Wait()
	for i := range w.shards {
		if left := len(w.shards[i].waiters); left > 0 {
			t.Errorf("%d traces are still waited for", left)
		}
	}
}
