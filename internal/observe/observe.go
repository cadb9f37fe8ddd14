// Package observe samples containers on a fixed schedule and records their counters.
package observe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"tollbooth/internal/cgroup"
	"tollbooth/internal/host"
	"tollbooth/internal/kernfile"
	"tollbooth/internal/lines"
	"tollbooth/internal/record"
	"tollbooth/internal/self"
	"tollbooth/internal/targets"
)

// upkeepInterval is how often the targets file is looked at, containers are looked for, and the record is written out.
const upkeepInterval = time.Second

// Config holds what to observe, how often, and the location of the host's files.
type Config struct {
	TargetsPath, OutPath          string
	Interval, SlowInterval        time.Duration
	CgroupRoot, ProcRoot, SysRoot string
	ObserverVersion               string
}

// Run observes until the context ends, then takes a last sample of everything. Its error is a *targets.InvalidError
// where the targets file is to blame.
func Run(ctx context.Context, config Config) error {
	file, err := os.Create(config.OutPath)
	if err != nil {
		return fmt.Errorf("cannot write the record: %w", err)
	}
	o, err := newObserver(config, lines.New(file), time.Now)
	if err != nil {
		return err
	}
	err = o.loop(ctx)
	o.finish()
	return errors.Join(err, o.writer.Close())
}

// observer is the state of one run.
type observer struct {
	config  Config
	now     func() time.Time
	version cgroup.Version
	finder  *cgroup.Finder
	watcher *targets.Watcher
	writer  *lines.Writer
	buffer  kernfile.Buffer

	sampling, slow, upkeep pace

	containers []*container // by name
	networks   map[string]netip.Prefix

	host      *host.Reader
	machine   host.Counters
	hostFault fault
	self      *self.Reader
	selfFault fault

	samples, errors, missedTicks uint64
}

func newObserver(config Config, writer *lines.Writer, now func() time.Time) (*observer, error) {
	version, err := cgroup.Detect(config.CgroupRoot)
	if err != nil {
		return nil, err
	}
	machine, err := host.Open(config.ProcRoot, config.SysRoot)
	if err != nil {
		return nil, err
	}
	own, err := self.Open(config.ProcRoot)
	if err != nil {
		return nil, err
	}
	start := now()
	writer.Lines = record.AppendHeader(writer.Lines, record.Header{
		IntervalNs: config.Interval.Nanoseconds(), SlowIntervalNs: config.SlowInterval.Nanoseconds(),
		Cgroup: version.Name(), TNs: start.UnixNano(), ObserverVersion: config.ObserverVersion,
	})
	return &observer{
		config: config, now: now, version: version, writer: writer, host: machine, self: own,
		finder:   cgroup.NewFinder(version),
		watcher:  targets.NewWatcher(config.TargetsPath),
		sampling: newPace(start, config.Interval),
		slow:     newPace(start, config.SlowInterval),
		upkeep:   newPace(start, upkeepInterval),
	}, nil
}

// loop ticks until the context ends, the targets file turns out to be wrong or the record cannot be written.
func (o *observer) loop(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if err := o.tick(); err != nil {
			return err
		}
		timer.Reset(o.sampling.next().Sub(o.now()))
	}
}

// tick does everything that is due now.
func (o *observer) tick() error {
	now := o.now()
	_, missed := o.sampling.take(now)
	o.missedTicks += uint64(missed)
	slow, _ := o.slow.take(now)
	upkeep, _ := o.upkeep.take(now)
	if upkeep {
		if err := o.reloadTargets(); err != nil {
			return err
		}
		o.attachContainers()
	}
	o.sample(slow)
	if upkeep {
		return o.writer.Flush()
	}
	return nil
}

// finish takes a last sample of everything.
func (o *observer) finish() {
	o.sample(true)
	o.event("", "stopped", "")
	o.setTargets(targets.Targets{})
}

func (o *observer) reloadTargets() error {
	first := o.watcher.Fresh()
	loaded, changed, err := o.watcher.Load()
	if err != nil || !changed {
		return err
	}
	o.setTargets(loaded)
	if !first {
		o.event("", "targets_changed", "")
	}
	return nil
}

// setTargets keeps the containers that are still targets and detaches the others.
func (o *observer) setTargets(wanted targets.Targets) {
	known := map[string]*container{}
	for _, c := range o.containers {
		known[c.id] = c
	}
	o.containers = o.containers[:0]
	for id, name := range wanted.Containers {
		c := known[id]
		if c == nil {
			c = &container{id: id}
		}
		delete(known, id)
		c.name = name
		c.detachNetwork() // the networks' names may have changed
		o.containers = append(o.containers, c)
	}
	for _, c := range known {
		c.detach()
	}
	slices.SortFunc(o.containers, func(a, b *container) int { return strings.Compare(a.name, b.name) })
	o.networks = wanted.Networks
}

// attachContainers looks for the containers that were not there so far, and for their network namespaces.
func (o *observer) attachContainers() {
	for _, c := range o.containers {
		if c.group == nil {
			o.attach(c)
		}
		if c.group != nil && c.namespace == nil {
			o.attachNetwork(c)
		}
		if c.namespace != nil && c.namespace.HasUnnamed() {
			o.check(c, &c.networkFault, c.nameNetworks(&o.buffer, o.networks))
		}
	}
}

func (o *observer) attach(c *container) {
	runs, err := c.attach(o.version, o.finder, o.config.ProcRoot)
	o.check(c, &c.usageFault, err)
	if !runs {
		return
	}
	if c.seen {
		o.event(c.name, "restarted", "")
	} else {
		o.event(c.name, "appeared", "")
	}
	c.seen = true
}

// attachNetwork leaves an earlier fault as it is where it succeeds: only a reading shows whether that has passed.
func (o *observer) attachNetwork(c *container) {
	if err := c.attachNetwork(&o.buffer, o.config.ProcRoot); err != nil {
		o.check(c, &c.networkFault, err)
	}
}

// sample records all containers that run and, if slow is due, what is read at that interval.
func (o *observer) sample(slow bool) {
	for _, c := range o.containers {
		o.sampleUsage(c)
		o.sampleNetwork(c)
		if slow {
			o.sampleSlow(c)
			o.sampleJVM(c)
		}
	}
	if slow {
		o.sampleHost()
		o.sampleSelf()
	}
}

func (o *observer) sampleUsage(c *container) {
	if c.group == nil {
		return
	}
	tNs := o.now().UnixNano()
	if o.check(c, &c.usageFault, c.group.ReadUsage(&o.buffer, &c.usage)) {
		o.writer.Lines = record.AppendContainer(o.writer.Lines, tNs, c.name, &c.usage)
		o.samples++
	}
}

func (o *observer) sampleNetwork(c *container) {
	if c.namespace == nil {
		return
	}
	tNs := o.now().UnixNano()
	interfaces, err := c.namespace.Read(&o.buffer)
	if !o.check(c, &c.networkFault, err) {
		c.detachNetwork()
		return
	}
	for i := range interfaces {
		o.writer.Lines = record.AppendNetwork(o.writer.Lines, tNs, c.name, &interfaces[i])
	}
}

func (o *observer) sampleSlow(c *container) {
	if c.group == nil {
		return
	}
	tNs := o.now().UnixNano()
	if o.check(c, &c.slowFault, c.readSlow(&o.buffer)) {
		o.writer.Lines = record.AppendSlow(o.writer.Lines, tNs, c.name, &c.slow)
	}
}

// sampleJVM never detaches a container: a JVM may end and another start in a running container.
func (o *observer) sampleJVM(c *container) {
	if c.group == nil {
		return
	}
	tNs := o.now().UnixNano()
	found, err := c.readJVM(&o.buffer, o.config.ProcRoot)
	if o.note(c.name, &c.jvmFault, err) && found {
		o.writer.Lines = record.AppendJVM(o.writer.Lines, tNs, c.name, &c.jvmCounters)
	}
}

func (o *observer) sampleHost() {
	tNs := o.now().UnixNano()
	if o.note("", &o.hostFault, o.host.Read(&o.buffer, &o.machine)) {
		o.writer.Lines = record.AppendHost(o.writer.Lines, tNs, &o.machine)
	}
}

func (o *observer) sampleSelf() {
	tNs := o.now().UnixNano()
	cost, err := o.self.Read(&o.buffer)
	if o.note("", &o.selfFault, err) {
		o.writer.Lines = record.AppendObserver(o.writer.Lines, tNs, record.Observer{
			Cost: cost, Samples: o.samples, Errors: o.errors, MissedTicks: o.missedTicks,
		})
	}
}

// check reports whether a container's reading succeeded. It detaches a container that no longer exists.
func (o *observer) check(c *container, f *fault, err error) bool {
	if kernfile.Gone(err) {
		c.detach()
		o.event(c.name, "gone", "")
		return false
	}
	return o.note(c.name, f, err)
}

// note reports whether a reading succeeded. A failed one is counted; the first after a success is also an event.
func (o *observer) note(name string, f *fault, err error) bool {
	if err != nil {
		o.errors++
		if !*f {
			o.event(name, "read_error", err.Error())
		}
	}
	*f = err != nil
	return err == nil
}

func (o *observer) event(name, event, detail string) {
	o.writer.Lines = record.AppendEvent(o.writer.Lines, o.now().UnixNano(), name, event, detail)
}
