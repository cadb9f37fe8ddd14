package observe

import (
	"errors"
	"net/netip"

	"tollbooth/internal/cgroup"
	"tollbooth/internal/hsperf"
	"tollbooth/internal/kernfile"
	"tollbooth/internal/netdev"
	"tollbooth/internal/parse"
	"tollbooth/internal/record"
	"tollbooth/internal/threads"
)

// container is one target. Its group is nil while it does not run, its namespace nil while it has none of its own, its jvm
// nil while no JVM runs in it.
type container struct {
	id, name  string
	group     cgroup.Group
	namespace *netdev.Namespace
	threads   *threads.Counter
	jvm       *hsperf.JVM
	processes []byte // as of the last slow reading, one to a line
	seen      bool   // it ran before: when it comes back, its counters begin again

	usageFault, networkFault, slowFault, jvmFault fault

	usage       cgroup.Usage // here and not on the stack: sampling then allocates nothing
	slow        record.Slow
	jvmCounters hsperf.Counters
}

// fault stores whether the last reading of a file failed: a lasting error is then one event.
type fault bool

// attach opens the container's counters and reports whether it runs.
func (c *container) attach(version cgroup.Version, finder *cgroup.Finder, procRoot string) (bool, error) {
	path := finder.Find(c.id)
	if path == "" {
		return false, nil
	}
	group, err := version.Open(path)
	if kernfile.Gone(err) { // it ended since the last check
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c.group = group
	c.threads = threads.NewCounter(procRoot)
	return true, nil
}

// attachNetwork opens the network namespace of one of the container's processes, if there is one by now.
func (c *container) attachNetwork(buffer *kernfile.Buffer, procRoot string) error {
	processes, err := c.group.ReadProcesses(buffer)
	if err != nil {
		return err
	}
	first, _ := parse.Line(processes)
	if first == nil {
		return nil
	}
	namespace, err := netdev.Open(procRoot, string(first))
	if kernfile.Gone(err) || errors.Is(err, netdev.ErrHostNamespace) {
		return nil
	}
	c.namespace = namespace
	return err
}

// nameNetworks finds out which networks the container's interfaces are connected to.
func (c *container) nameNetworks(buffer *kernfile.Buffer, subnets map[string]netip.Prefix) error {
	if _, err := c.namespace.Read(buffer); err != nil {
		return err
	}
	return c.namespace.NameNetworks(buffer, subnets)
}

// readSlow reads what is recorded at the slow interval.
func (c *container) readSlow(buffer *kernfile.Buffer) error {
	if err := c.group.ReadSlowUsage(buffer, &c.slow.SlowUsage); err != nil {
		return err
	}
	processes, err := c.group.ReadProcesses(buffer)
	if err != nil {
		return err
	}
	c.processes = append(c.processes[:0], processes...)
	c.slow.Processes = parse.CountLines(processes)
	list, err := c.group.ReadThreads(buffer)
	if err != nil {
		return err
	}
	c.slow.Threads = parse.CountLines(list)
	c.slow.Usage, err = c.threads.Update(buffer, list)
	return err
}

// readJVM reads the counters of the container's JVM, which it looks for where there was none at the last reading.
// It reports whether there is one.
func (c *container) readJVM(buffer *kernfile.Buffer, procRoot string) (found bool, err error) {
	if c.jvm == nil {
		if c.jvm, err = hsperf.Find(buffer, procRoot, c.processes); c.jvm == nil {
			return false, err
		}
	}
	if err = c.jvm.Read(buffer, &c.jvmCounters); err != nil {
		c.detachJVM()
	}
	if errors.Is(err, hsperf.ErrEnded) {
		return false, nil
	}
	return err == nil, err
}

// detach closes all files, as soon as the container ends: open files would keep its network namespace alive.
func (c *container) detach() {
	c.detachNetwork()
	c.detachJVM()
	if c.group != nil {
		c.group.Close()
		c.threads.Close()
	}
	c.group, c.threads = nil, nil
	c.processes = c.processes[:0]
}

func (c *container) detachNetwork() {
	if c.namespace != nil {
		c.namespace.Close()
	}
	c.namespace = nil
}

func (c *container) detachJVM() {
	if c.jvm != nil {
		c.jvm.Close()
	}
	c.jvm = nil
}
