package threads

import "bytes"

// Group is a kind of threads of a JVM.
type Group int

// The groups.
const (
	Other    Group = iota
	JIT            // compilers
	GC             // garbage collectors
	Exporter       // of telemetry
	groups   = iota
)

// PerGroup has a number for each group.
type PerGroup [groups]uint64

// prefixes are how names of a group's threads begin, in /proc/<id>/status, which has the first 15 characters of a name.
// They are those of JDK 25 and of the libraries under services/telemetry.
var prefixes = [groups][][]byte{
	JIT: {[]byte("C1 Compiler"), []byte("C2 Compiler")},
	GC: {
		// The serial collector runs in the VM thread, as do a JVM's other operations for which all threads stop.
		[]byte("VM Thread"),
		[]byte("GC Thread#"), []byte("G1 "), // parallel, G1
		[]byte("ZDirector"), []byte("ZDriver"), []byte("ZStat"), []byte("ZUncommitter"), []byte("ZWorker"),
		[]byte("Shenandoah"),
	},
	Exporter: {
		[]byte("BatchSpanProc"), []byte("BatchLogRecord"), []byte("PeriodicMetric"), // OpenTelemetry's SDK
		[]byte("OkHttp"), []byte("okhttp-"), []byte("Okio "), // how it sends
		[]byte("prometheus-http"), []byte("HTTP-Dispatcher"), // where its metrics are scraped
		[]byte("AsyncReporter"), []byte("HttpClient-"), // Zipkin's reporter, and how it sends
		[]byte("span-recorder"), // the streaming tracer's
	},
}

// groupOf returns the group of the thread whose status is given.
func groupOf(status []byte) Group {
	name, found := bytes.CutPrefix(status, []byte("Name:\t"))
	if !found {
		return Other
	}
	for group, ofGroup := range prefixes {
		for _, prefix := range ofGroup {
			if bytes.HasPrefix(name, prefix) {
				return Group(group)
			}
		}
	}
	return Other
}
