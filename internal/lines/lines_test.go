package lines

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// disk is a file on a disk that has room for so many bytes.
type disk struct {
	*os.File
	room int
}

func (d *disk) Write(data []byte) (int, error) {
	fitting := data[:min(len(data), d.room)]
	n, err := d.File.Write(fitting)
	d.room -= n
	if err == nil && n < len(data) {
		err = syscall.ENOSPC
	}
	return n, err
}

func TestAFullDiskKeepsWholeLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "counters.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	writer := New(&disk{file, len("one\ntwo\nth")})
	writer.Lines = append(writer.Lines, "one\n"...)
	if err := writer.Flush(); err != nil {
		t.Fatal(err)
	}
	writer.Lines = append(writer.Lines, "two\nthree\n"...)
	if err := writer.Flush(); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("error is %v", err)
	}
	writer.Lines = append(writer.Lines, "four\n"...)
	if err := writer.Close(); err != nil {
		t.Errorf("the error is reported a second time: %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "one\ntwo\n" {
		t.Errorf("the file holds %q", got)
	}
}

func TestLinesAreWrittenOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "counters.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	writer := New(file)
	for _, line := range []string{"one\n", "two\n"} {
		writer.Lines = append(writer.Lines, line...)
		if err := writer.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	writer.Lines = append(writer.Lines, "three\n"...)
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "one\ntwo\nthree\n" {
		t.Errorf("the file holds %q", got)
	}
}
