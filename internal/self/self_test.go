package self

import (
	"os"
	"testing"

	"tollbooth/internal/kernfile"
)

func TestResidentMemoryIsTheSecondNumber(t *testing.T) {
	reader, err := Open("../testdata/proc")
	if err != nil {
		t.Fatal(err)
	}
	var buffer kernfile.Buffer
	cost, err := reader.Read(&buffer)
	if err != nil || cost.RSSBytes != 1100*uint64(os.Getpagesize()) {
		t.Errorf("cost is %+v, error %v", cost, err)
	}
}

func TestWorkCostsCPUTime(t *testing.T) {
	reader, err := Open("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var buffer kernfile.Buffer
	before, err := reader.Read(&buffer)
	if err != nil {
		t.Fatal(err)
	}
	for range 10_000 {
		after, err := reader.Read(&buffer)
		if err != nil {
			t.Fatal(err)
		}
		if after.CPUNs > before.CPUNs {
			return
		}
	}
	t.Error("10,000 readings cost no CPU time")
}
