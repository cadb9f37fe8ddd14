package load

import "testing"

// said is an error's text, "" where there is none.
func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestRoutesArePathsWithoutTheirFirstSlash(t *testing.T) {
	for _, c := range []struct {
		routes []string
		want   string
	}{
		{[]string{"a1", "api/v1/a-b_c.d~e"}, ""},
		{nil, "routes: must have at least one"},
		{[]string{"a1", ""}, `routes: "" is not a path without its first slash`},
		{[]string{"/a1"}, `routes: "/a1" is not a path without its first slash`},
		{[]string{"a1/"}, `routes: "a1/" is not a path without its first slash`},
		{[]string{"a1?b=1"}, `routes: "a1?b=1" is not a path without its first slash`},
		{[]string{"a1 HTTP/1.1\r\nHost: b"}, `routes: "a1 HTTP/1.1\r\nHost: b" is not a path without its first slash`},
	} {
		if got := said(CheckRoutes(c.routes)); got != c.want {
			t.Errorf("%q: said %q, want %q", c.routes, got, c.want)
		}
	}
}

func TestConcurrencyIsBounded(t *testing.T) {
	const outside = "concurrency: must be from 1 to 1000"
	for concurrency, want := range map[int]string{-1: outside, 0: outside, 1: "", 1000: "", 1001: outside} {
		if got := said(CheckConcurrency(concurrency)); got != want {
			t.Errorf("%d: said %q, want %q", concurrency, got, want)
		}
	}
}
