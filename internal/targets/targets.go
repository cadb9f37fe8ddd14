// Package targets reads targets.json: which containers to watch, and which networks there are. docs/reference/formats.md describes it.
package targets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"regexp"
)

const (
	format  = "tollbooth.targets"
	version = 1
)

var (
	idPattern   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	namePattern = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`) // what Compose allows
)

// Targets lists the containers to observe.
type Targets struct {
	Containers map[string]string       // container id -> name
	Networks   map[string]netip.Prefix // name -> subnet
}

// InvalidError is a targets file that cannot be used as it is.
type InvalidError struct {
	Path   string
	Reason error
}

func (e *InvalidError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Reason) }

// Parse reads the file's text. Its error describes what is wrong with it.
func Parse(text []byte) (Targets, error) {
	var file struct {
		Format     string
		Version    int
		Containers map[string]string
		Networks   map[string]string
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return Targets{}, fmt.Errorf("is not a targets file: %w", err)
	}
	if file.Format != format || file.Version != version {
		return Targets{}, fmt.Errorf("has format %q version %d, this observer reads %q version %d",
			file.Format, file.Version, format, version)
	}
	if err := checkContainers(file.Containers); err != nil {
		return Targets{}, err
	}
	networks, err := parseNetworks(file.Networks)
	return Targets{Containers: file.Containers, Networks: networks}, err
}

func checkContainers(containers map[string]string) error {
	idOf := map[string]string{}
	for id, name := range containers {
		if !idPattern.MatchString(id) {
			return fmt.Errorf("container %q: %q is not a container id (64 hexadecimal digits)", name, id)
		}
		if !namePattern.MatchString(name) {
			return fmt.Errorf("container %s: %q is not a name", id, name)
		}
		if other, taken := idOf[name]; taken {
			return fmt.Errorf("the name %q is given to two containers, %s and %s", name, min(id, other), max(id, other))
		}
		idOf[name] = id
	}
	return nil
}

func parseNetworks(texts map[string]string) (map[string]netip.Prefix, error) {
	networks := map[string]netip.Prefix{}
	for name, text := range texts {
		if !namePattern.MatchString(name) {
			return nil, fmt.Errorf("network %q is not a name", name)
		}
		subnet, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("network %q: %q is not a subnet like 172.18.0.0/16", name, text)
		}
		networks[name] = subnet
	}
	return networks, nil
}

// Watcher reads a targets file again whenever it has changed.
type Watcher struct {
	path string
	file os.FileInfo
}

// NewWatcher watches the file at path, which need not be there yet.
func NewWatcher(path string) *Watcher { return &Watcher{path: path} }

// Fresh reports whether no file has been loaded so far.
func (w *Watcher) Fresh() bool { return w.file == nil }

// Load returns the targets and true if the file has come or changed since the last call. Its errors are *InvalidError.
func (w *Watcher) Load() (Targets, bool, error) {
	info, err := os.Stat(w.path)
	if errors.Is(err, fs.ErrNotExist) {
		return Targets{}, false, nil
	}
	if err == nil && w.file != nil && os.SameFile(info, w.file) && info.ModTime().Equal(w.file.ModTime()) {
		return Targets{}, false, nil
	}
	text, err := os.ReadFile(w.path)
	if err != nil {
		return Targets{}, false, &InvalidError{w.path, err}
	}
	targets, err := Parse(text)
	if err != nil {
		return Targets{}, false, &InvalidError{w.path, err}
	}
	w.file = info
	return targets, true, nil
}
