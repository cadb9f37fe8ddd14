package load

import (
	"net"
	"strings"
	"testing"
)

func TestATargetIsAHostWithAPort(t *testing.T) {
	for _, right := range []string{"gateway:8080", "127.0.0.1:80", "[::1]:80"} {
		if err := CheckTarget(right); err != nil {
			t.Errorf("%q: said %v", right, err)
		}
	}
	for _, wrong := range []string{"", "gateway", "::1"} {
		if err := CheckTarget(wrong); err == nil || err.Error() != "TARGET: must be host:port" {
			t.Errorf("%q: said %v", wrong, err)
		}
	}
}

func TestATargetThatIsThereIsReachedUntilItIsGone(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := listener.Addr().String()
	if address, err := Reach(target); err != nil || address != target {
		t.Errorf("reached %q, not %s (%v)", address, target, err)
	}
	listener.Close()
	_, err = Reach(target)
	if err == nil || !strings.HasPrefix(err.Error(), "cannot reach "+target+": dial tcp") || strings.Contains(err.Error(), "\n") {
		t.Errorf("said %v", err)
	}
}
