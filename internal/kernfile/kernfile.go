// Package kernfile keeps the kernel's counter files open and reads them again and again.
//
// Opening such a file costs several times as much as reading it, so a file stays open from one sample to the next.
package kernfile

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

const page = 4096

// File is an open file under /proc or /sys. The zero value is a file that this kernel does not offer: it reads as empty.
type File struct {
	path string
	fd   int
}

// Open opens a file that has to be there.
func Open(path string) (File, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return File{}, fmt.Errorf("open %s: %w", path, err)
	}
	return File{path: path, fd: fd}, nil
}

// OpenOptional opens a file that not every kernel offers: where it is missing, the zero File is returned.
func OpenOptional(path string) (File, error) {
	file, err := Open(path)
	if errors.Is(err, syscall.ENOENT) {
		return File{}, nil
	}
	return file, err
}

// Close closes the file. A closed file reads as empty.
func (f *File) Close() {
	if f.Offered() {
		_ = syscall.Close(f.fd)
	}
	*f = File{}
}

// Offered reports whether this kernel has the file.
func (f *File) Offered() bool { return f.path != "" }

// SameAs reports whether two open files are the same file.
func (f *File) SameAs(other *File) (bool, error) {
	var mine, theirs syscall.Stat_t
	if err := syscall.Fstat(f.fd, &mine); err != nil {
		return false, fmt.Errorf("stat %s: %w", f.path, err)
	}
	if err := syscall.Fstat(other.fd, &theirs); err != nil {
		return false, fmt.Errorf("stat %s: %w", other.path, err)
	}
	return mine.Dev == theirs.Dev && mine.Ino == theirs.Ino, nil
}

// Removed reports whether the file was deleted from its folder. An open file can still be read.
func (f *File) Removed() (bool, error) {
	var mine syscall.Stat_t
	if err := syscall.Fstat(f.fd, &mine); err != nil {
		return false, fmt.Errorf("stat %s: %w", f.path, err)
	}
	return mine.Nlink == 0, nil
}

// Buffer is where files are read into; it grows to the largest file seen. What a read returns is valid until the next read.
type Buffer struct{ bytes []byte }

// Read reads a file that the kernel writes in one go (most of them): one system call.
func (b *Buffer) Read(f *File) ([]byte, error) {
	if !f.Offered() {
		return nil, nil
	}
	for {
		n, err := b.readAt(f, 0)
		if err != nil {
			return nil, err
		}
		if n < len(b.bytes) {
			return b.bytes[:n], nil
		}
		b.grow()
	}
}

// ReadList reads a file that the kernel writes entry by entry (processes, threads, interfaces): a single system call
// returns at most a page of it, less the entry that did not fit. Entries are far shorter than half a page.
func (b *Buffer) ReadList(f *File) ([]byte, error) {
	if !f.Offered() {
		return nil, nil
	}
	length := 0
	for {
		n, err := b.readAt(f, length)
		if err != nil {
			return nil, err
		}
		length += n
		if n < page/2 {
			return b.bytes[:length], nil
		}
	}
}

// ReadListAt opens a file, reads it as ReadList does, and closes it.
func (b *Buffer) ReadListAt(path string) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return b.ReadList(&file)
}

// ReadRange reads length bytes of a file from offset on in one system call; the result is shorter at the end of the file.
func (b *Buffer) ReadRange(f *File, offset, length int) ([]byte, error) {
	for len(b.bytes) < length {
		b.grow()
	}
	n, err := f.pread(b.bytes[:length], offset)
	return b.bytes[:n], err
}

// readAt fills the buffer from offset on with the file's bytes there.
func (b *Buffer) readAt(f *File, offset int) (int, error) {
	if len(b.bytes) < offset+page {
		b.grow()
	}
	return f.pread(b.bytes[offset:], offset)
}

// pread reads the file at offset.
//
// The system call is raw. These files are in memory and never wait for a device. With a normal call Go's scheduler would
// wake a second thread for about one call in a hundred, which costs more than the reading.
func (f *File) pread(free []byte, offset int) (int, error) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_PREAD64, uintptr(f.fd),
		uintptr(unsafe.Pointer(&free[0])), uintptr(len(free)), uintptr(offset), 0, 0)
	if errno != 0 {
		return 0, fmt.Errorf("read %s: %w", f.path, errno)
	}
	return int(n), nil
}

func (b *Buffer) grow() {
	bytes := make([]byte, max(2*page, 2*len(b.bytes)))
	copy(bytes, b.bytes)
	b.bytes = bytes
}

// Gone reports whether an error means that the file's subject has ended: its cgroup was removed or its process exited.
func Gone(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENODEV) ||
		errors.Is(err, syscall.ESTALE) || errors.Is(err, syscall.ESRCH)
}
