package main

import (
	"runtime"
	"time"

	"tollbooth/internal/requests"
)

// From building the schedule to the first arrival, which is then not late.
const leadTime = 10 * time.Millisecond

// openLoop sends a load's requests at their times, whatever becomes of the answers, and returns when all have ended.
func (c *client) openLoop(l load) ([]requests.Row, error) {
	rows := l.schedule()
	runtime.GC() // what the last load left; the next collection is then far away
	now := c.clock.Now()
	if err := l.checkStarts(now); err != nil {
		return nil, err
	}
	first := l.startNs(now)
	precisely(func() {
		for i := range rows {
			rows[i].Intended += first
			c.clock.SleepUntil(rows[i].Intended)
			c.send(&rows[i])
		}
	})
	c.ended.Wait()
	return rows, nil
}

// closedLoop sends each request as soon as it may be under way beside the others, and returns when all have ended. A
// user whose request had no answer pauses, but not longer than the load.
func (c *client) closedLoop(l load) []requests.Row {
	runtime.GC()
	next, began := l.routes(), c.clock.Now()
	var sent []*requests.Row // of which the client writes those under way: they must not move
	more := func() bool { return l.within(len(sent), time.Duration(c.clock.Now()-began)) }
	if l.DurationS != nil {
		defer time.AfterFunc(time.Duration(*l.DurationS*float64(time.Second)), c.end).Stop()
	}
	for more() && c.awaitFewer() && more() {
		row := &requests.Row{Target: next()}
		sent = append(sent, row)
		c.send(row)
	}
	c.ended.Wait()
	rows := make([]requests.Row, len(sent))
	for i, row := range sent {
		rows[i] = *row
		rows[i].Intended = row.Start
	}
	return rows
}
