package targets

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	idA = strings.Repeat("a1", 32)
	idB = strings.Repeat("b2", 32)
)

func text(containers, networks string) string {
	return `{"format":"tollbooth.targets","version":1,"containers":{` + containers + `},"networks":{` + networks + `}}`
}

func TestParse(t *testing.T) {
	got, err := Parse([]byte(text(`"`+idA+`":"gateway","`+idB+`":"a1"`, `"app":"172.18.0.0/16"`)))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Containers) != 2 || got.Containers[idA] != "gateway" || got.Containers[idB] != "a1" {
		t.Errorf("containers are %v", got.Containers)
	}
	if got.Networks["app"] != netip.MustParsePrefix("172.18.0.0/16") {
		t.Errorf("networks are %v", got.Networks)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	for wrong, want := range map[string]string{
		"":     "is not a targets file",
		"[1]":  "is not a targets file",
		"{}{}": `format ""`,
		`{"format":"tollbooth.targets","version":2}`:            "version 2",
		`{"format":"tollbooth.trial","version":1}`:              `format "tollbooth.trial"`,
		strings.Replace(text("", ""), "networks", "network", 1): `unknown field "network"`,
		text(`"abc":"a1"`, ""):                                  `"abc" is not a container id`,
		text(`"`+idA+`":"a 1"`, ""):                             `"a 1" is not a name`,
		text(`"`+idA+`":"a1","`+idB+`":"a1"`, ""):               `"a1" is given to two containers`,
		text("", `"app":"172.18.0.0"`):                          `"172.18.0.0" is not a subnet`,
		text("", `"a b":"172.18.0.0/16"`):                       `"a b" is not a name`,
	} {
		if _, err := Parse([]byte(wrong)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %s", wrong, err, want)
		}
	}
}

func load(t *testing.T, watcher *Watcher) (Targets, bool) {
	t.Helper()
	targets, changed, err := watcher.Load()
	if err != nil {
		t.Fatal(err)
	}
	return targets, changed
}

// replace writes a file as the lab does: to a temporary file, then renamed into place.
func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func TestTheFileIsReadWhenItComesAndWhenItChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "targets.json")
	watcher := NewWatcher(path)
	if _, changed := load(t, watcher); changed || !watcher.Fresh() {
		t.Error("a missing file was read")
	}
	replace(t, path, text(`"`+idA+`":"a1"`, ""))
	if targets, changed := load(t, watcher); !changed || watcher.Fresh() || targets.Containers[idA] != "a1" {
		t.Errorf("changed %v, targets %v", changed, targets)
	}
	if _, changed := load(t, watcher); changed {
		t.Error("the same file was read twice")
	}
	replace(t, path, text(`"`+idA+`":"a2"`, ""))
	if targets, changed := load(t, watcher); !changed || targets.Containers[idA] != "a2" {
		t.Errorf("changed %v, targets %v", changed, targets)
	}
	replace(t, path, "oops")
	var invalid *InvalidError
	if _, _, err := watcher.Load(); !errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), path) {
		t.Errorf("error is %v", err)
	}
}
