// Package load is how the lab and a load generator's container talk: by load-<n>.json and requests-<n>.csv, in one folder.
package load

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tollbooth/internal/requests"
)

const (
	format  = "tollbooth.load"
	version = 1
	// How often the folder is checked for the next load.
	checkEvery = 50 * time.Millisecond
)

// Common are the fields of every generator's load. nil is null, or left out.
type Common struct {
	Format       string   `json:"format"`
	Version      int      `json:"version"`
	Requests     *int     `json:"requests"`
	DurationS    *float64 `json:"duration_s"`
	RequestsPerS *float64 `json:"requests_per_s"`
}

// New is a load of so many requests.
func New(requests int) Common { return Common{Format: format, Version: version, Requests: &requests} }

// Ending is a load of so many seconds.
func Ending(afterS float64) Common {
	return Common{Format: format, Version: version, DurationS: &afterS}
}

// Last is true for the load that ends the generator. It sends nothing.
func (c Common) Last() bool { return c.Requests != nil && *c.Requests == 0 }

// Check returns the first rule that the fields break.
func (c Common) Check() error {
	return cmp.Or(
		Broken(c.Format != format || c.Version != version,
			fmt.Sprintf("is %s version %d, not %s version %d", c.Format, c.Version, format, version)),
		Broken((c.Requests == nil) == (c.DurationS == nil), "requests: must be given, or else duration_s"),
		Broken(c.Requests != nil && *c.Requests < 0, "requests: must not be below 0"),
		Broken(c.DurationS != nil && *c.DurationS <= 0, "duration_s: must be above 0"),
		Broken(c.RequestsPerS != nil && *c.RequestsPerS <= 0, "requests_per_s: must be above 0"),
	)
}

// Broken is the error of a broken rule, nil where the rule holds. `says` names the field and what it must be.
func Broken(broken bool, says string) error {
	if broken {
		return errors.New(says)
	}
	return nil
}

// Load is one generator's load; it embeds Common.
type Load interface {
	Last() bool
	// Check returns the first rule that the load breaks. The last load has no fields to check but those of Common.
	Check() error
}

// Parse reads a load and checks it. Unknown fields are an error.
func Parse[T Load](text []byte) (T, error) {
	var wanted T
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&wanted); err != nil {
		return wanted, err
	}
	return wanted, wanted.Check()
}

// Each sends the folder's loads, each as it appears, until the last one, and writes the requests of each.
// Its error is one line that names the load's file and, where the load is wrong, the field.
func Each[T Load](folder string, send func(T) ([]requests.Row, error)) error {
	return Numbered(folder, func(number int, wanted T) error {
		sent, err := send(wanted)
		if err != nil {
			return err
		}
		requests.Sort(sent)
		return requests.Write(filepath.Join(folder, fmt.Sprintf("requests-%d.csv", number)), sent)
	})
}

// Numbered is Each for a load that leaves files of its own. Loads are numbered from 0.
func Numbered[T Load](folder string, send func(int, T) error) error {
	for number := 0; ; number++ {
		path := filepath.Join(folder, fmt.Sprintf("load-%d.json", number))
		awaitFile(path)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		wanted, err := Parse[T](text)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if wanted.Last() {
			return nil
		}
		if err := send(number, wanted); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
}

// awaitFile returns when the file exists. It has no time limit: the lab ends the container if no load will come.
func awaitFile(path string) {
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(checkEvery)
	}
}
