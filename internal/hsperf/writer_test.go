package hsperf

import "encoding/binary"

// entry is one counter as a JVM would write it.
type entry struct {
	name  string
	unit  byte
	value uint64
}

// allEntries has every counter that is read, and some that are not.
var allEntries = []entry{
	{"java.property.not.wanted", unitNone, 1},
	{"sun.os.hrt.frequency", unitHertz, 2_000_000_000},
	{"sun.gc.generation.0.space.0.used", unitBytes, 3 << 20},
	{"sun.gc.generation.0.space.1.used", unitBytes, 99},
	{"sun.gc.generation.0.space.0.capacity", unitBytes, 16 << 20},
	{"sun.gc.collector.0.invocations", unitEvents, 5},
	{"sun.gc.collector.0.time", unitTicks, 7_000_000_001},
	{"sun.gc.collector.0.lastEntryTime", unitTicks, 9_000_000_000},
	{"sun.gc.collector.1.invocations", unitEvents, 2},
	{"sun.gc.collector.1.time", unitTicks, 10},
	{"java.ci.totalTime", unitTicks, 4_000_000_000},
	{"sun.ci.totalCompiles", unitEvents, 1234},
	{"java.cls.loadedClasses", unitEvents, 100},
	{"java.cls.sharedLoadedClasses", unitEvents, 900},
	{"sun.rt.createVmBeginTime", unitNone, 1_760_000_000_000},
	{"java.threads.live", unitNone, 31},
}

// write returns a file of a JVM that has started.
func write(order binary.ByteOrder, entries []entry) []byte {
	file := make([]byte, prologueBytes)
	binary.BigEndian.PutUint32(file, magic)
	if order == binary.LittleEndian {
		file[4] = 1
	}
	file[5], file[7] = version, 1
	order.PutUint32(file[24:], prologueBytes)
	order.PutUint32(file[28:], uint32(len(entries)))
	for _, e := range entries {
		file = append(file, writeEntry(order, e)...)
	}
	return append(file, make([]byte, 4096)...) // a JVM's file is larger than what it holds
}

func writeEntry(order binary.ByteOrder, e entry) []byte {
	dataAt := (entryBytes + len(e.name) + 1 + valueBytes - 1) / valueBytes * valueBytes
	text := make([]byte, dataAt+valueBytes)
	order.PutUint32(text, uint32(len(text)))
	order.PutUint32(text[4:], entryBytes)
	text[12], text[14] = typeLong, e.unit
	order.PutUint32(text[16:], uint32(dataAt))
	copy(text[entryBytes:], e.name)
	order.PutUint64(text[dataAt:], e.value)
	return text
}
