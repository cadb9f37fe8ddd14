package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"sync"

	"tollbooth/internal/lines"
)

const (
	flushBytes = 64 << 10
	// An unfinished file's name ends so.
	unfinished = ".part"
)

// recorder writes the lines of many goroutines to one file. On a full disk the file keeps its complete lines.
type recorder struct {
	path   string
	failed func(error) // called once
	mutex  sync.Mutex
	writer *lines.Writer
	err    error

	finished bool
}

// newRecorder creates the file under the name of an unfinished one.
func newRecorder(path, header string, failed func(error)) (*recorder, error) {
	file, err := os.Create(path + unfinished)
	if err != nil {
		return nil, fmt.Errorf("cannot write the record: %w", err)
	}
	r := &recorder{path: path, failed: failed, writer: lines.New(file)}
	r.add([]byte(header))
	return r, nil
}

// add adds complete lines.
func (r *recorder) add(text []byte) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.finished { // what comes after the load
		return
	}
	r.writer.Lines = append(r.writer.Lines, text...)
	if len(r.writer.Lines) >= flushBytes {
		r.write(r.writer.Flush)
	}
}

// flush writes what was added.
func (r *recorder) flush() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if !r.finished {
		r.write(r.writer.Flush)
	}
}

// finish writes the rest and gives the file its name. A file that could not be written keeps the name of an unfinished one.
func (r *recorder) finish() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.finished = true
	r.write(r.writer.Close)
	if r.err != nil {
		return r.err
	}
	return os.Rename(r.path+unfinished, r.path)
}

func (r *recorder) write(write func() error) {
	if err := write(); err != nil && r.err == nil {
		r.err = err
		r.failed(err)
	}
}

// readLines passes each line of a file below its header to a function. Its error names file and line.
func readLines(path, header string, each func([]byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	wanted := strings.Split(strings.TrimSuffix(header, "\n"), "\n")
	for number := 1; scanner.Scan(); number++ {
		if number <= len(wanted) {
			if scanner.Text() != wanted[number-1] {
				return fmt.Errorf("%s: line %d is %.40q, not %.40q", path, number, scanner.Text(), wanted[number-1])
			}
			continue
		}
		if err := each(scanner.Bytes()); err != nil {
			return fmt.Errorf("%s: line %d %w", path, number, err)
		}
	}
	return scanner.Err()
}
