package load

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tollbooth/internal/requests"
)

const complete = `{"format":"tollbooth.load","version":1,"requests":10,"requests_per_s":200}`

func TestABrokenLoadIsNamedByItsField(t *testing.T) {
	for _, broken := range []struct{ from, to, says string }{
		{`"version":1`, `"version":2`, "version 2, not tollbooth.load version 1"},
		{`"requests":10`, `"requests":-1`, "requests: must not be below 0"},
		{`"requests":10`, `"requests":null`, "requests: must be given, or else duration_s"},
		{`"requests":10`, `"requests":10,"duration_s":3`, "requests: must be given, or else duration_s"},
		{`"requests":10`, `"duration_s":0`, "duration_s: must be above 0"},
		{`200`, `0`, "requests_per_s: must be above 0"},
		{`"requests"`, `"request"`, `unknown field "request"`},
		{`200}`, `200`, "unexpected EOF"},
	} {
		_, err := Parse[Common]([]byte(strings.Replace(complete, broken.from, broken.to, 1)))
		if err == nil || !strings.Contains(err.Error(), broken.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q", broken.to, err, broken.says)
		}
	}
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := errors.Join(os.WriteFile(path+".part", []byte(text), 0o600), os.Rename(path+".part", path)); err != nil {
		t.Fatal(err)
	}
}

const last = `{"format":"tollbooth.load","version":1,"requests":0}`

func TestEachLoadIsSentAsItAppearsUntilTheLast(t *testing.T) {
	folder, ended := t.TempDir(), make(chan error)
	answer := []requests.Row{{Target: "a1", End: 2}, {Target: "a1", End: 1}}
	go func() { ended <- Each(folder, func(Common) ([]requests.Row, error) { return answer, nil }) }()
	write(t, folder, "load-0.json", complete)
	write(t, folder, "load-1.json", last)
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it did not end at the last load")
	}
	text, err := os.ReadFile(filepath.Join(folder, "requests-0.csv"))
	if err != nil || !strings.HasSuffix(string(text), "\n0,a1,0,0,1,0,0\n0,a1,0,0,2,0,0\n") {
		t.Errorf("wrote %q (%v)", text, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "requests-1.csv")); !os.IsNotExist(err) {
		t.Errorf("the last load has requests: %v", err)
	}
}

func TestAnErrorNamesTheFile(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "load-0.json", `{"format":"tollbooth.load","version":3}`)
	err := Each(folder, func(Common) ([]requests.Row, error) { return nil, nil })
	if err == nil || !strings.Contains(err.Error(), "load-0.json: is tollbooth.load version 3") {
		t.Errorf("got %v", err)
	}
}

func TestAFailedLoadLeavesNoRequests(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "load-0.json", complete)
	broken := errors.New("cannot reach a1")
	if err := Each(folder, func(Common) ([]requests.Row, error) { return nil, broken }); !errors.Is(err, broken) ||
		!strings.Contains(err.Error(), "load-0.json: cannot") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(folder, "requests-0.csv")); !os.IsNotExist(err) {
		t.Errorf("a failed load has requests: %v", err)
	}
}
