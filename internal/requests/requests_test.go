package requests

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestTheFileIsTheOneThatTheAnalysisReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "requests.csv")
	const base = 1760000000000000000
	rows := []Row{
		{0, "a1", base, base + 100_000, base + 50_000_000, 200, 41},
		{1, "a2", base + 20_000_000, base + 20_250_000, base + 81_000_000, 200, 41},
		{0, "a3", base + 1_060_000_000, base + 1_060_000_000, base + 1_120_000_000, 502, 0},
		{1, "a4", base + 1_100_000_000, base + 1_100_300_000, base + 11_100_300_000, 0, 0},
	}
	if err := Write(path, rows); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../fixtures/requests.v1.csv")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("wrote %q, want %q", got, want)
	}
	if _, err := os.Stat(path + ".part"); !os.IsNotExist(err) {
		t.Errorf("the unfinished file is still there: %v", err)
	}
}

func TestNoFileIsLeftWhereItCannotBeWritten(t *testing.T) {
	if err := Write(filepath.Join(t.TempDir(), "missing", "requests.csv"), nil); err == nil {
		t.Error("a missing folder was no error")
	}
}

func TestRowsAreSortedByTheirEnd(t *testing.T) {
	rows := []Row{{Start: 1, End: 30}, {Start: 2, End: 20}, {Start: 3, End: 20}}
	Sort(rows)
	if want := []Row{{Start: 2, End: 20}, {Start: 3, End: 20}, {Start: 1, End: 30}}; !slices.Equal(rows, want) {
		t.Errorf("sorted to %v", rows)
	}
}
