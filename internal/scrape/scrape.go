// Package scrape reads OpenTelemetry Collectors' own counters at an interval, and records them.
package scrape

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"tollbooth/internal/lines"
	"tollbooth/internal/record"
)

// Config holds what to scrape, how often, and where to write the answers.
type Config struct {
	Endpoints []Endpoint
	OutPath   string
	Interval  time.Duration // between two scrapes of a Collector
	Timeout   time.Duration // of a scrape
}

// Run scrapes until the context ends. A Collector that does not answer is no error: the record says so.
func Run(ctx context.Context, config Config) error {
	file, err := os.Create(config.OutPath)
	if err != nil {
		return fmt.Errorf("cannot write the record: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	writer := lines.New(file)
	writer.Lines = record.AppendCollectorHeader(writer.Lines, config.Interval.Nanoseconds(), time.Now().UnixNano())
	for scraped := range all(ctx, config) {
		writer.Lines = record.AppendScrape(writer.Lines, &scraped)
		if failure := writer.Flush(); failure != nil {
			err = failure
			stop()
		}
	}
	return errors.Join(err, writer.Close())
}

// all returns the scrapes of all Collectors as they come. A slow Collector delays no other.
func all(ctx context.Context, config Config) <-chan record.Scrape {
	scrapes := make(chan record.Scrape)
	var watching sync.WaitGroup
	for _, endpoint := range config.Endpoints {
		watching.Add(1)
		go func() {
			defer watching.Done()
			watch(ctx, endpoint, config, scrapes)
		}()
	}
	go func() {
		watching.Wait()
		close(scrapes)
	}()
	return scrapes
}

// watch scrapes one Collector at once and at each interval until the context ends, and then once more. Of the last
// scrape only an answer counts: the Collector may have been stopped before.
func watch(ctx context.Context, endpoint Endpoint, config Config, scrapes chan<- record.Scrape) {
	client := newClient(config.Timeout)
	defer client.CloseIdleConnections()
	ticker := time.NewTicker(config.Interval)
	defer ticker.Stop()
	failed := uint64(0)
	for ctx.Err() == nil {
		scraped := endpoint.scrape(client)
		if scraped.Fault != "" {
			failed++
		}
		scraped.FailedScrapes = failed
		scrapes <- scraped
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	if last := endpoint.scrape(client); last.Fault == "" {
		last.FailedScrapes = failed
		scrapes <- last
	}
}
