package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"tollbooth/internal/clock"
	common "tollbooth/internal/load"
)

// run is one load while it is sent.
type run struct {
	load      load
	number    int
	folder    string
	clock     clock.Clock
	key       loadKey
	receiver  *receiver
	transport transport
	openers   []*opener // one for each target
	counters  counters
	end       context.CancelFunc
	first     sync.Once // of the failures
	err       error

	mutex     sync.Mutex
	recorders []*recorder // all that are open
}

// fail ends the load with an error. Only the first counts.
func (r *run) fail(err error) {
	r.first.Do(func() { r.err = err })
	r.end()
}

// generator sends loads to its targets.
type generator struct {
	folder   string
	targets  []string
	receiver *receiver
	stop     context.Context // a signal ends it
	busy     sync.Mutex      // held while a load is sent
	err      error           // the last load's; under busy
}

// send sends a load and leaves its records.
func (g *generator) send(number int, l load) (err error) {
	g.busy.Lock()
	defer func() {
		g.err = err
		g.busy.Unlock()
	}()
	if err := checkOpenFiles(l.connections()*len(g.targets), openFilesLimit()); err != nil {
		return err
	}
	ctx, end := context.WithCancel(g.stop)
	defer end()
	r := &run{
		load: l, number: number, folder: g.folder, clock: clock.New(), key: newLoadKey(), receiver: g.receiver, end: end,
	}
	if err := r.openTo(ctx, g.targets); err != nil {
		return err
	}
	send, err := r.prepare()
	if err != nil {
		return err
	}
	counted, err := r.record("generator", "jsonl", "")
	if err != nil {
		return err
	}
	writeJSON(counted, r.header())
	counting, ended := context.WithCancel(context.Background())
	var counter sync.WaitGroup
	counter.Go(func() { r.count(counting, counted) })
	err = send(ctx)
	ended()
	counter.Wait()
	r.first.Do(func() {}) // what fails from now on is returned below
	return cmp.Or(r.err, err, counted.finish())
}

// record creates one of the load's files.
func (r *run) record(name, ending, header string) (*recorder, error) {
	created, err := newRecorder(filepath.Join(r.folder, fmt.Sprintf("%s-%d.%s", name, r.number, ending)), header, r.fail)
	if err != nil {
		return nil, err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.recorders = append(r.recorders, created)
	return created, nil
}

// flush writes what the files got so far.
func (r *run) flush() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, each := range r.recorders {
		each.flush()
	}
}

// openTo prepares connections to the targets.
func (r *run) openTo(ctx context.Context, targets []string) error {
	buffer := largeBuffer
	if r.load.connections() > manyConnections {
		buffer = smallBuffer
	}
	r.transport = transports[r.load.Transport]
	if r.load.Coupled != nil && r.load.Coupled.Shared == 0 && r.load.Transport == "grpc" {
		r.transport = unary
	}
	for _, target := range targets {
		o := &opener{&dialer{target: target}, r.load.Compression == "gzip", buffer}
		if err := r.reach(ctx, o.dialer); err != nil {
			return err
		}
		r.openers = append(r.openers, o)
	}
	return nil
}

// reach looks a target up. Only before the first load is it an error that it takes no connection, and it has a while to
// begin: one of several may listen later than the others. That it takes none later is what a load finds out.
func (r *run) reach(ctx context.Context, to *dialer) error {
	if r.number > 0 {
		_ = to.reach()
		return nil
	}
	limited, end := context.WithTimeout(ctx, common.ReachLimit)
	defer end()
	return to.await(func() bool { return sleep(limited, reachAgain) })
}

// open opens one connection to each target.
func (r *run) open() ([]connection, error) {
	opened := make([]connection, len(r.openers))
	for i, o := range r.openers {
		var err error
		if opened[i], err = r.transport.open(o); err != nil {
			return nil, err
		}
	}
	return opened, nil
}

// openAll opens so many connections to each target.
func (r *run) openAll(count int) (opened [][]connection, err error) {
	for range count {
		one, err := r.open()
		if err != nil {
			return opened, err
		}
		opened = append(opened, one)
	}
	return opened, nil
}

func closeAll(opened [][]connection) {
	for _, one := range opened {
		for _, each := range one {
			each.close()
		}
	}
}

// prepare returns what sends the load until the context ends.
func (r *run) prepare() (func(context.Context) error, error) {
	if r.load.Coupled != nil {
		return r.coupled, nil
	}
	next := schedule(nil)
	if r.load.Decoupled != nil {
		next = r.load.Decoupled.schedule(r.load.Seed, r.load.duration())
	} else {
		logged, err := readReplay(filepath.Join(r.folder, r.load.Replay.Log))
		if err != nil {
			return nil, err
		}
		next = replaying(logged, r.load.duration())
	}
	return func(ctx context.Context) error { return r.decoupled(ctx, next) }, nil
}
