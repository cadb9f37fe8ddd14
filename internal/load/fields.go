package load

import (
	"fmt"
	"regexp"
)

// More connections than this are a mistake.
const maxConcurrency = 1000

// A route goes into a URL, or into the request line, as it is.
var routeForm = regexp.MustCompile(`^[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*$`)

// CheckRoutes returns the first rule that a load's routes break.
func CheckRoutes(routes []string) error {
	for _, route := range routes {
		if !routeForm.MatchString(route) {
			return fmt.Errorf("routes: %q is not a path without its first slash", route)
		}
	}
	return Broken(len(routes) == 0, "routes: must have at least one")
}

// CheckConcurrency returns an error unless a closed loop can have so many connections.
func CheckConcurrency(concurrency int) error {
	return Broken(concurrency < 1 || concurrency > maxConcurrency,
		fmt.Sprintf("concurrency: must be from 1 to %d", maxConcurrency))
}
