package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// run spins on every CPU until ctx ends and writes a record of each thread at every interval, and a last one at the
// end. Each thread has a ring of the given size in bytes.
func run(ctx context.Context, out io.Writer, interval time.Duration, bytes int) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// A start's records are some kilobytes each minute: collecting them would cost more than keeping them.
	debug.SetGCPercent(-1)
	threads := make([]counts, runtime.NumCPU())
	// One more thread, which writes while the others spin.
	runtime.GOMAXPROCS(len(threads) + 1)
	var spinning sync.WaitGroup
	for i := range threads {
		spinning.Add(1)
		go func() {
			defer spinning.Done()
			spin(ctx.Done(), newRing(bytes/entryBytes, int64(i)), &threads[i])
		}()
	}
	err := write(ctx, json.NewEncoder(out), threads, newHeader(interval, bytes, time.Now()))
	stop()
	spinning.Wait()
	return err
}

func write(ctx context.Context, out *json.Encoder, threads []counts, first header) error {
	if err := out.Encode(first); err != nil {
		return fmt.Errorf("cannot write the record: %w", err)
	}
	ticker := time.NewTicker(time.Duration(first.IntervalNs))
	defer ticker.Stop()
	for ended := false; ; {
		for i := range threads {
			if err := out.Encode(newSample(i, &threads[i], time.Now())); err != nil {
				return fmt.Errorf("cannot write the record: %w", err)
			}
		}
		if ended {
			return nil
		}
		select {
		case <-ctx.Done(): // what was counted since the last record is written too
			ended = true
		case <-ticker.C:
		}
	}
}
