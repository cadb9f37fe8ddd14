package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"tollbooth/internal/lines"
)

// smallDisk is a file on a disk that has room for so many bytes.
type smallDisk struct {
	*os.File
	room int
}

func (d *smallDisk) Write(data []byte) (int, error) {
	n, err := d.File.Write(data[:min(len(data), d.room)])
	d.room -= n
	if err == nil && n < len(data) {
		err = syscall.ENOSPC
	}
	return n, err
}

func TestAFullDiskKeepsCompleteRecordsAndEndsTheLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traces-0.csv")
	file, err := os.Create(path + unfinished)
	if err != nil {
		t.Fatal(err)
	}
	var failures []error
	r := &recorder{path: path, writer: lines.New(&smallDisk{file, 100_000}), failed: func(err error) { failures = append(failures, err) }}
	r.add([]byte(recordHeader))
	sent := someRecord()
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 1000 {
				r.add(sent.append(nil))
			}
		})
	}
	writers.Wait()
	if err := r.finish(); !errors.Is(err, syscall.ENOSPC) || len(failures) != 1 || failures[0] != err {
		t.Errorf("ended with %v, failed with %v", err, failures)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("the file has the name of a complete one")
	}
	found, count := read(t, path+unfinished), 0
	if !strings.HasSuffix(found, "\n") || len(found) < 100_000-maxRecordBytes {
		t.Errorf("%d bytes, the last ones %q", len(found), found[len(found)-20:])
	}
	err = readLines(path+unfinished, recordHeader, func(line []byte) error {
		r, err := parseRecord(line)
		if r != sent {
			t.Errorf("record %d: %+v", count, r)
		}
		count++
		return err
	})
	if err != nil || count < 400 {
		t.Errorf("%d records (%v)", count, err)
	}
}

func TestAFileThatCannotBeCreatedIsNamed(t *testing.T) {
	_, err := newRecorder(filepath.Join(t.TempDir(), "missing", "traces-0.csv"), "", nil)
	if err == nil || !strings.Contains(err.Error(), "missing/traces-0.csv.part: no such file") {
		t.Errorf("said %v", err)
	}
}
