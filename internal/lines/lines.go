// Package lines writes a file of lines of which a full disk leaves complete ones.
package lines

import (
	"bytes"
	"fmt"
)

// File is where a Writer writes to; *os.File is one.
type File interface {
	Write([]byte) (int, error)
	Truncate(size int64) error
	Close() error
}

// Writer collects lines; Flush writes them. Append to Lines.
// After an error, which is returned once, it writes nothing more.
type Writer struct {
	Lines  []byte
	file   File
	size   int64
	failed bool
}

// New returns a writer to an empty file.
func New(file File) *Writer { return &Writer{file: file} }

// Flush writes the collected lines. If only a part fits, the file keeps the complete lines of that part.
func (w *Writer) Flush() error {
	lines := w.Lines
	w.Lines = w.Lines[:0]
	if w.failed {
		return nil
	}
	n, err := w.file.Write(lines)
	if err != nil {
		w.failed = true
		whole := bytes.LastIndexByte(lines[:n], '\n') + 1
		_ = w.file.Truncate(w.size + int64(whole)) // a pipe cannot be truncated: the write's error is enough
		return fmt.Errorf("cannot write the record: %w", err)
	}
	w.size += int64(n)
	return nil
}

// Close writes the remaining lines and closes the file.
func (w *Writer) Close() error {
	err := w.Flush()
	if closeErr := w.file.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("cannot write the record: %w", closeErr)
	}
	return err
}
