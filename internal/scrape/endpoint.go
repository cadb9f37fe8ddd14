package scrape

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"tollbooth/internal/otelcol"
	"tollbooth/internal/record"
)

// mostBytes bounds an answer; a Collector's own metrics are some 30 KB.
const mostBytes = 4 << 20

var namePattern = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`) // what Compose allows

// Endpoint is where a Collector shows its own metrics.
type Endpoint struct{ Name, URL string }

// ParseEndpoints reads NAME=URL, or several with commas between them. Its error describes what is wrong.
func ParseEndpoints(text string) ([]Endpoint, error) {
	var endpoints []Endpoint
	for _, one := range strings.Split(text, ",") {
		name, address, _ := strings.Cut(one, "=")
		if !namePattern.MatchString(name) {
			return nil, fmt.Errorf("%q: %q is not a name; wanted NAME=URL", one, name)
		}
		parsed, err := url.Parse(address)
		if err != nil || parsed.Scheme != "http" || parsed.Host == "" {
			return nil, fmt.Errorf("%q: %q is not an address like http://collector:8888/metrics", one, address)
		}
		if slices.ContainsFunc(endpoints, func(other Endpoint) bool { return other.Name == name }) {
			return nil, fmt.Errorf("the name %q is given to two Collectors", name)
		}
		endpoints = append(endpoints, Endpoint{name, address})
	}
	return endpoints, nil
}

// newClient returns a client that goes nowhere else: it uses no proxy and follows no redirect. It does not take gzip,
// which would cost the Collector CPU time.
func newClient(timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout:       timeout,
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// scrape returns the Collector's counters, or why there are none.
func (e Endpoint) scrape(client *http.Client) record.Scrape {
	tNs, text, err := e.fetch(client)
	scraped := record.Scrape{TNs: tNs, Name: e.Name}
	if err == nil {
		scraped.Counters, err = otelcol.Parse(text)
	}
	if err != nil {
		scraped.Fault = err.Error()
	}
	return scraped
}

// fetch returns the text and when its answer began: the Collector reads its counters just before.
func (e Endpoint) fetch(client *http.Client) (tNs int64, text []byte, err error) {
	response, err := client.Get(e.URL)
	tNs = time.Now().UnixNano()
	if err != nil {
		return tNs, nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return tNs, nil, fmt.Errorf("%s: %s", e.URL, response.Status)
	}
	text, err = io.ReadAll(io.LimitReader(response.Body, mostBytes+1))
	if err != nil {
		return tNs, nil, fmt.Errorf("%s: %w", e.URL, err)
	}
	if len(text) > mostBytes {
		return tNs, nil, fmt.Errorf("%s: the answer is larger than %d bytes", e.URL, mostBytes)
	}
	return tNs, text, nil
}
