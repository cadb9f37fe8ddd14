package kernfile

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string) *File {
	t.Helper()
	file, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(file.Close)
	return &file
}

func TestBothWaysOfReadingReturnTheWholeFileOfAnySize(t *testing.T) {
	for _, size := range []int{0, 1, 8191, 8192, 8193, 100_000} {
		text := strings.Repeat("x", size)
		file := open(t, write(t, text))
		var buffer Buffer
		for name, read := range map[string]func(*File) ([]byte, error){"Read": buffer.Read, "ReadList": buffer.ReadList} {
			got, err := read(file)
			if err != nil || string(got) != text {
				t.Errorf("%s of %d bytes returned %d bytes and error %v", name, size, len(got), err)
			}
		}
	}
}

func TestAListOfManyPagesFromTheKernelIsReadWhole(t *testing.T) {
	const path = "/proc/kallsyms"
	want, err := os.ReadFile(path)
	if err != nil || len(want) < 100*page {
		t.Skipf("%s has %d bytes: %v", path, len(want), err)
	}
	var buffer Buffer
	if got, err := buffer.ReadList(open(t, path)); err != nil || string(got) != string(want) {
		t.Errorf("read %d bytes of %d, error %v", len(got), len(want), err)
	}
}

func TestAFileIsReadAfreshEachTime(t *testing.T) {
	path := write(t, "1\n")
	file := open(t, path)
	var buffer Buffer
	for _, text := range []string{"1\n", "22\n", "3\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := buffer.Read(file); err != nil || string(got) != text {
			t.Errorf("read %q and error %v, want %q", got, err, text)
		}
	}
}

func TestAFileThatIsNotOfferedReadsAsEmpty(t *testing.T) {
	file, err := OpenOptional(filepath.Join(t.TempDir(), "missing"))
	if err != nil {
		t.Fatal(err)
	}
	var buffer Buffer
	if got, err := buffer.Read(&file); err != nil || len(got) != 0 {
		t.Errorf("read %q and error %v", got, err)
	}
	if got, err := buffer.ReadList(&file); err != nil || len(got) != 0 {
		t.Errorf("read list %q and error %v", got, err)
	}
}

func TestAMissingFileIsGoneAndNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing")
	_, err := Open(path)
	if !Gone(err) || !strings.Contains(fmt.Sprint(err), path) {
		t.Errorf("error is %v", err)
	}
}

func TestAFileWhoseProcessExitedIsGone(t *testing.T) {
	process := exec.Command("sleep", "60")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	file := open(t, fmt.Sprintf("/proc/%d/status", process.Process.Pid))
	var buffer Buffer
	if _, err := buffer.Read(file); err != nil {
		t.Fatal(err)
	}
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait()
	if _, err := buffer.Read(file); !Gone(err) {
		t.Errorf("error is %v", err)
	}
}

func TestARangeIsCutOffWhereTheFileEnds(t *testing.T) {
	file := open(t, write(t, strings.Repeat("0123456789", 2000)))
	var buffer Buffer
	for _, c := range []struct {
		offset, length int
		want           string
	}{
		{0, 3, "012"},
		{12_345, 4, "5678"},
		{19_998, 10, "89"},
		{20_000, 10, ""},
		{0, 20_000, strings.Repeat("0123456789", 2000)},
	} {
		if got, err := buffer.ReadRange(file, c.offset, c.length); err != nil || string(got) != c.want {
			t.Errorf("%d bytes at %d are %q, error %v", c.length, c.offset, got, err)
		}
	}
}

func TestAFileThatWasRemovedSaysSo(t *testing.T) {
	path := write(t, "1\n")
	file := open(t, path)
	if removed, err := file.Removed(); err != nil || removed {
		t.Errorf("removed %v, error %v", removed, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if removed, err := file.Removed(); err != nil || !removed {
		t.Errorf("removed %v, error %v", removed, err)
	}
}

func TestOtherErrorsAreNotGone(t *testing.T) {
	if Gone(nil) || Gone(errors.New("something else")) || Gone(os.ErrPermission) {
		t.Error("an unrelated error counts as gone")
	}
}
