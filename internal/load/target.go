package load

import (
	"fmt"
	"net"
	"time"
)

// ReachLimit is how long a target may take to accept a connection.
const ReachLimit = 5 * time.Second

// CheckTarget returns an error unless the environment's TARGET is a host with a port.
func CheckTarget(target string) error {
	_, _, err := net.SplitHostPort(target)
	return Broken(err != nil, "TARGET: must be host:port")
}

// Reach looks a target up, checks that it takes a connection, and returns the address that took it.
func Reach(target string) (address string, err error) {
	connection, err := net.DialTimeout("tcp", target, ReachLimit)
	if err != nil {
		return "", fmt.Errorf("cannot reach %s: %w", target, err)
	}
	return connection.RemoteAddr().String(), connection.Close()
}
