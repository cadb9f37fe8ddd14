// Package hsperf reads the performance counters that a HotSpot JVM keeps in a file (hsperfdata), as jstat does.
//
// The file is memory that the JVM writes its counters to anyway: reading it costs the JVM nothing.
package hsperf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"tollbooth/internal/parse"
)

// ErrNotReady means that the JVM is still starting: not all of its counters are there yet.
var ErrNotReady = errors.New("the JVM is still starting")

// The format, version 2.0: see perfMemory.hpp and perfData.hpp of OpenJDK. A prologue (magic number, byte order, version
// major and minor, accessible, used, overflow, time of the last change, where entries begin, how many there are), then
// entries (length, where the name begins, length of a vector, type, flags, unit, variability, where the data begins).
const (
	magic         = 0xcafec0c0 // big endian on every machine
	version       = 2
	prologueBytes = 32
	entryBytes    = 20
	valueBytes    = 8
	typeLong      = 'J'
)

const (
	nsPerSecond = 1_000_000_000
	nsPerMs     = 1_000_000
)

// Units of counters.
const (
	unitNone   = 1
	unitBytes  = 2
	unitTicks  = 3
	unitEvents = 4
	unitHertz  = 6
)

// counter identifies a counter that is read.
type counter int

const (
	edenUsed counter = iota
	edenCapacity
	youngGCCount
	youngGCTime
	youngGCLast
	fullGCCount
	fullGCTime
	jitTime
	jitCompilations
	classesLoaded
	classesShared
	threadsLive
	vmBegin
	frequency
	counters // their number
)

// wanted lists the JVM's name of each counter. The serial, parallel and G1 collectors use the same names: generation 0 is
// the young one and its space 0 eden; collector 0 makes the young collections and collector 1 the full ones.
var wanted = map[string]struct {
	counter
	unit byte
}{
	"sun.gc.generation.0.space.0.used":     {edenUsed, unitBytes},
	"sun.gc.generation.0.space.0.capacity": {edenCapacity, unitBytes},
	"sun.gc.collector.0.invocations":       {youngGCCount, unitEvents},
	"sun.gc.collector.0.time":              {youngGCTime, unitTicks},
	"sun.gc.collector.0.lastEntryTime":     {youngGCLast, unitTicks}, // since the JVM's start
	"sun.gc.collector.1.invocations":       {fullGCCount, unitEvents},
	"sun.gc.collector.1.time":              {fullGCTime, unitTicks},
	"java.ci.totalTime":                    {jitTime, unitTicks},
	"sun.ci.totalCompiles":                 {jitCompilations, unitEvents},
	"java.cls.loadedClasses":               {classesLoaded, unitEvents},
	"java.cls.sharedLoadedClasses":         {classesShared, unitEvents},
	"java.threads.live":                    {threadsLive, unitNone},
	"sun.rt.createVmBeginTime":             {vmBegin, unitNone}, // in ms of Unix time
	"sun.os.hrt.frequency":                 {frequency, unitHertz},
}

// Counters of a JVM since its start. A counter that is missing in its file is unknown.
type Counters struct {
	EdenUsedBytes, EdenCapacityBytes parse.Count
	YoungGCCount, YoungGCTimeNs      parse.Count
	YoungGCLastTNs                   parse.Count // Unix time of the last one's start; unknown before the first
	FullGCCount, FullGCTimeNs        parse.Count
	JITTimeNs, JITCompilations       parse.Count
	ClassesLoaded                    parse.Count // including those from a shared archive
	ThreadsLive                      parse.Count // without virtual ones
}

// Layout holds the positions of the counters in one JVM's file. They do not change while the JVM runs.
type Layout struct {
	order          binary.ByteOrder
	offsets        [counters]int // 0: not in the file
	start, end     int           // the part of the file that holds them all
	ticksPerSecond uint64
}

// Parse finds the counters in a file's bytes. Its error is ErrNotReady, or describes what is wrong with the file.
func Parse(file []byte) (Layout, error) {
	if len(file) == 0 || len(file) >= prologueBytes && binary.BigEndian.Uint32(file) == 0 {
		return Layout{}, ErrNotReady // the JVM has made the file, but not written to it
	}
	l, next, entries, err := parsePrologue(file)
	for n := 0; n < entries && err == nil; n++ {
		if next, err = l.addEntry(file, next); err != nil {
			err = fmt.Errorf("entry %d of %d: %w", n+1, entries, err)
		}
	}
	if err == nil && l.end == 0 {
		err = errors.New("has none of the required counters")
	}
	if err != nil {
		return Layout{}, err
	}
	at := l.offsets[frequency]
	if at == 0 {
		return Layout{}, ErrNotReady // written last, after agents start: with an agent this takes seconds
	}
	l.ticksPerSecond = l.order.Uint64(file[at:])
	return l, nil
}

// parsePrologue returns an empty layout, where the first entry begins, and how many there are.
func parsePrologue(file []byte) (l Layout, first, entries int, err error) {
	if len(file) < prologueBytes {
		return l, 0, 0, fmt.Errorf("is cut off after %d bytes", len(file))
	}
	if got := binary.BigEndian.Uint32(file); got != magic {
		return l, 0, 0, fmt.Errorf("is not a file of JVM counters: it begins with %#x, not %#x", got, uint32(magic))
	}
	switch file[4] {
	case 0:
		l.order = binary.BigEndian
	case 1:
		l.order = binary.LittleEndian
	default:
		return l, 0, 0, fmt.Errorf("has unknown byte order %d", file[4])
	}
	if file[5] != version {
		return l, 0, 0, fmt.Errorf("has version %d.%d of the format, not %d", file[5], file[6], version)
	}
	if file[7] == 0 {
		return l, 0, 0, ErrNotReady
	}
	l.start = len(file)
	return l, int(l.order.Uint32(file[24:])), int(l.order.Uint32(file[28:])), nil
}

// addEntry adds the entry at an offset if it is a listed counter, and returns the offset of the next entry.
func (l *Layout) addEntry(file []byte, begin int) (next int, err error) {
	if begin < prologueBytes || begin+entryBytes > len(file) {
		return 0, fmt.Errorf("would begin at byte %d of %d", begin, len(file))
	}
	length := int(l.order.Uint32(file[begin:]))
	if length < entryBytes || begin+length > len(file) {
		return 0, fmt.Errorf("would be %d bytes long, at byte %d of %d", length, begin, len(file))
	}
	entry := file[begin : begin+length]
	nameAt, dataAt := int(l.order.Uint32(entry[4:])), int(l.order.Uint32(entry[16:]))
	if nameAt >= length || dataAt > length {
		return 0, fmt.Errorf("is %d bytes long, its name would be at %d and its value at %d", length, nameAt, dataAt)
	}
	name, _, _ := bytes.Cut(entry[nameAt:], []byte{0})
	vector, kind, unit := l.order.Uint32(entry[8:]), entry[12], entry[14]
	w, found := wanted[string(name)]
	if found && vector == 0 && kind == typeLong && unit == w.unit && dataAt+valueBytes <= length {
		l.add(w.counter, begin+dataAt)
	}
	return begin + length, nil
}

func (l *Layout) add(c counter, at int) {
	l.offsets[c] = at
	if c != frequency { // it never changes
		l.start, l.end = min(l.start, at), max(l.end, at+valueBytes)
	}
}

// values reads the counters from the part of the file between start and end.
func (l *Layout) values(part []byte, c *Counters) {
	c.EdenUsedBytes = l.count(part, edenUsed)
	c.EdenCapacityBytes = l.count(part, edenCapacity)
	c.YoungGCCount = l.count(part, youngGCCount)
	c.YoungGCTimeNs = l.ns(part, youngGCTime)
	c.YoungGCLastTNs = l.unixNs(part, youngGCLast)
	c.FullGCCount = l.count(part, fullGCCount)
	c.FullGCTimeNs = l.ns(part, fullGCTime)
	c.JITTimeNs = l.ns(part, jitTime)
	c.JITCompilations = l.count(part, jitCompilations)
	c.ClassesLoaded = l.count(part, classesLoaded)
	if c.ClassesLoaded.Known {
		c.ClassesLoaded.Value += l.count(part, classesShared).Value
	}
	c.ThreadsLive = l.count(part, threadsLive)
}

func (l *Layout) count(part []byte, c counter) parse.Count {
	if l.offsets[c] == 0 {
		return parse.Count{}
	}
	return parse.Known(l.order.Uint64(part[l.offsets[c]-l.start:]))
}

// ns converts a counter of ticks. Without the tick frequency the result is unknown.
func (l *Layout) ns(part []byte, c counter) parse.Count {
	ticks := l.count(part, c)
	if !ticks.Known || l.ticksPerSecond == 0 {
		return parse.Count{}
	}
	seconds, rest := ticks.Value/l.ticksPerSecond, ticks.Value%l.ticksPerSecond
	return parse.Known(seconds*nsPerSecond + rest*nsPerSecond/l.ticksPerSecond)
}

// unixNs converts a time in ticks since the JVM's start. 0 means never.
func (l *Layout) unixNs(part []byte, c counter) parse.Count {
	began, since := l.count(part, vmBegin), l.ns(part, c)
	if began.Value == 0 || since.Value == 0 {
		return parse.Count{}
	}
	return parse.Known(began.Value*nsPerMs + since.Value)
}
