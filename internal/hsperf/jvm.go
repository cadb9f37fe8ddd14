package hsperf

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tollbooth/internal/kernfile"
	"tollbooth/internal/parse"
)

// ErrEnded means that a JVM has ended, or has left its file for another.
var ErrEnded = errors.New("the JVM has ended")

// errNoJVM means that a process is not a JVM, or one that keeps no file (yet).
var errNoJVM = errors.New("not a JVM with counters")

// JVM is the open counters of a JVM that runs.
type JVM struct {
	process kernfile.File // reading fails with a Gone error when the process has ended
	file    kernfile.File
	layout  Layout
}

// Find opens the counters of the first JVM among processes (ids, one to a line, not in the buffer). It returns nil while
// there is none. This user must be allowed to see the files of processes named java: run as the same user as they do.
func Find(buffer *kernfile.Buffer, procRoot string, processes []byte) (*JVM, error) {
	for line, rest := parse.Line(processes); line != nil; line, rest = parse.Line(rest) {
		j := &JVM{}
		err := j.open(buffer, filepath.Join(procRoot, string(line)))
		if err == nil {
			return j, nil
		}
		j.Close()
		if !kernfile.Gone(err) && !errors.Is(err, errNoJVM) && !errors.Is(err, ErrNotReady) {
			return nil, err
		}
	}
	return nil, nil
}

// open opens the counters of the process whose folder under /proc is given.
func (j *JVM) open(buffer *kernfile.Buffer, folder string) (err error) {
	if j.process, err = kernfile.Open(filepath.Join(folder, "comm")); err != nil {
		return err
	}
	name, err := buffer.Read(&j.process)
	if err != nil {
		return err
	}
	if string(name) != "java\n" {
		return errNoJVM
	}
	path, err := findFile(folder)
	if err != nil {
		return err
	}
	if j.file, err = kernfile.Open(path); err != nil {
		return err
	}
	content, err := buffer.Read(&j.file)
	if err != nil {
		return err
	}
	if j.layout, err = Parse(content); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// findFile returns the path of a process's file as seen from outside its container: the JVM writes it below its own /tmp,
// to a folder named after its user, and names it by its process id as it knows it itself.
func findFile(folder string) (string, error) {
	status, err := os.ReadFile(filepath.Join(folder, "status"))
	if err != nil {
		return "", err
	}
	tmp := filepath.Join(folder, "root/tmp")
	entries, err := os.ReadDir(tmp)
	if err != nil {
		return "", err
	}
	id := innermostID(status)
	for _, entry := range entries {
		path := filepath.Join(tmp, entry.Name(), id)
		if info, err := os.Stat(path); strings.HasPrefix(entry.Name(), "hsperfdata_") && err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", errNoJVM
}

// innermostID returns a process's id in its own namespace by the text of its status file, which lists the id in each
// namespace from the reader's on inwards; "" if the kernel does not report it.
func innermostID(status []byte) string {
	for line, rest := parse.Line(status); line != nil; line, rest = parse.Line(rest) {
		if ids, found := bytes.CutPrefix(line, []byte("NSpid:")); found {
			return string(ids[bytes.LastIndexByte(ids, '\t')+1:])
		}
	}
	return ""
}

// Read reads the counters. After an error (ErrEnded or another) close the JVM, and look for one again.
func (j *JVM) Read(buffer *kernfile.Buffer, counters *Counters) error {
	_, err := buffer.Read(&j.process)
	if kernfile.Gone(err) {
		return ErrEnded
	}
	if err != nil {
		return err
	}
	// The file of a JVM that was killed stays where it was; the next one with the same id removes it.
	removed, err := j.file.Removed()
	if err != nil {
		return err
	}
	part, err := buffer.ReadRange(&j.file, j.layout.start, j.layout.end-j.layout.start)
	if err != nil {
		return err
	}
	if removed || len(part) < j.layout.end-j.layout.start {
		return ErrEnded
	}
	j.layout.values(part, counters)
	return nil
}

// Close closes the JVM's files.
func (j *JVM) Close() {
	j.process.Close()
	j.file.Close()
}
