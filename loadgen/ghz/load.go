package main

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"strings"

	common "tollbooth/internal/load"
)

// ghz keeps no more results.
const maxRequests = 1_000_000

// load is what a load-<n>.json says; README.md has the meaning of each field. nil is null, or left out.
type load struct {
	common.Common
	Target           string   `json:"target"`
	Operation        string   `json:"operation"`
	Concurrency      *int     `json:"concurrency"`
	ErrorProbability *float32 `json:"error_probability"`
	FirstCounter     uint32   `json:"first_counter"`
}

// name is what the rows call the target.
func (l load) name() string {
	if l.Operation == "" {
		return "Mock"
	}
	return l.Operation
}

// Check returns the first rule that the load breaks.
func (l load) Check() error {
	if err := l.Common.Check(); err != nil || l.Last() {
		return err
	}
	_, _, badAddress := net.SplitHostPort(l.Target)
	return cmp.Or(
		common.Broken(badAddress != nil, "target: must be host:port"),
		common.Broken(strings.ContainsAny(l.Operation, ",\n"), "operation: must be a name"),
		common.Broken(l.Concurrency == nil && l.RequestsPerS == nil, "concurrency: must be given where requests_per_s is not"),
		common.Broken(l.Requests != nil && *l.Requests > maxRequests,
			fmt.Sprintf("requests: must be at most %d", maxRequests)),
		common.Broken(l.Concurrency != nil && *l.Concurrency < 1, "concurrency: must be at least 1"),
		common.Broken(l.ErrorProbability != nil && (*l.ErrorProbability < 0 || *l.ErrorProbability > 1),
			"error_probability: must be from 0 to 1"),
		common.Broken(l.Requests != nil && uint64(l.FirstCounter)+uint64(*l.Requests)-1 > math.MaxUint32,
			"first_counter: the last request's counter would not fit in 32 bits"),
	)
}
