// Package threads counts the context switches of a container's threads, and the CPU time of some groups of them.
package threads

import (
	"path/filepath"
	"strconv"

	"tollbooth/internal/kernfile"
	"tollbooth/internal/parse"
)

// Usage is what threads did: how often they gave up a CPU voluntarily, how often they were preempted, and for how long
// each group ran.
type Usage struct {
	Voluntary, Involuntary uint64
	RanNs                  PerGroup
}

// CPUNs returns for how long the threads of a group ran. It is unknown where no group but Other ever ran: there is no JVM,
// or the kernel does not count the time of a thread.
func (u *Usage) CPUNs(group Group) parse.Count {
	if u.RanNs[JIT]+u.RanNs[GC]+u.RanNs[Exporter] == 0 {
		return parse.Count{}
	}
	return parse.Known(u.RanNs[group])
}

func (u *Usage) add(other *Usage) {
	u.Voluntary += other.Voluntary
	u.Involuntary += other.Involuntary
	for group := range u.RanNs {
		u.RanNs[group] += other.RanNs[group]
	}
}

// Counter sums the usage of all threads ever seen: the sums never decrease when a thread ends.
// What a thread does between its last reading and its end is lost.
type Counter struct {
	procRoot string
	ids      []uint64
	live     map[uint64]*thread
	ended    Usage
	round    uint64
}

type thread struct {
	status   kernfile.File
	schedule kernfile.File
	ranNs    uint64 // when status was read
	usage    Usage
	round    uint64 // the last one that listed it
}

// NewCounter returns a counter that has seen no thread.
func NewCounter(procRoot string) *Counter {
	return &Counter{procRoot: procRoot, live: map[uint64]*thread{}}
}

// Update reads the threads in a list of ids, one to a line, and returns the sums. The list may lie in the buffer.
func (c *Counter) Update(buffer *kernfile.Buffer, list []byte) (Usage, error) {
	c.ids = c.ids[:0]
	for line, rest := parse.Line(list); line != nil; line, rest = parse.Line(rest) {
		c.ids = append(c.ids, parse.Uint(line).Value)
	}
	c.round++
	for _, id := range c.ids {
		if err := c.read(buffer, id); err != nil && !kernfile.Gone(err) {
			return Usage{}, err
		}
	}
	for id, t := range c.live {
		if t.round != c.round {
			c.end(id, t)
		}
	}
	return c.sum(), nil
}

// Close closes all files.
func (c *Counter) Close() {
	for id, t := range c.live {
		c.end(id, t)
	}
}

func (c *Counter) sum() Usage {
	total := c.ended
	for _, t := range c.live {
		total.add(&t.usage)
	}
	return total
}

// read reads one thread. An open file belongs to the thread that it was opened for, even when its id is given to another:
// the reading then fails with a Gone error, and the next round opens the file of the new thread.
func (c *Counter) read(buffer *kernfile.Buffer, id uint64) error {
	t, known := c.live[id]
	if !known {
		t = &thread{}
		if err := t.open(filepath.Join(c.procRoot, strconv.FormatUint(id, 10))); err != nil {
			return err
		}
		c.live[id] = t
	}
	if err := t.read(buffer); err != nil {
		c.end(id, t)
		return err
	}
	t.round = c.round
	return nil
}

// end keeps the last value of a thread that has ended.
func (c *Counter) end(id uint64, t *thread) {
	c.ended.add(&t.usage)
	t.close()
	delete(c.live, id)
}

// open opens the thread whose folder under /proc is given.
func (t *thread) open(folder string) (err error) {
	if t.schedule, err = kernfile.OpenOptional(filepath.Join(folder, "schedstat")); err != nil {
		return err
	}
	if t.status, err = kernfile.Open(filepath.Join(folder, "status")); err != nil {
		t.close()
	}
	return err
}

// read skips a thread that has not run, as most threads of a server have not. It compares schedstat's first number, the
// time that the thread ran (0 if the kernel does not count it). Reading status, a page of text, costs several times more.
func (t *thread) read(buffer *kernfile.Buffer) error {
	text, err := buffer.Read(&t.schedule)
	if err != nil {
		return err
	}
	ranNs := parse.Uint(text).Value
	if ranNs > 0 && ranNs == t.ranNs {
		return nil
	}
	if text, err = buffer.Read(&t.status); err != nil {
		return err
	}
	t.usage.RanNs[groupOf(text)] += ranNs - t.ranNs
	t.ranNs = ranNs
	t.usage.Voluntary = parse.Field(text, "voluntary_ctxt_switches:").Value
	t.usage.Involuntary = parse.Field(text, "nonvoluntary_ctxt_switches:").Value
	return nil
}

func (t *thread) close() {
	t.schedule.Close()
	t.status.Close()
}
