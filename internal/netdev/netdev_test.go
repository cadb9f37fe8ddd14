package netdev

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tollbooth/internal/kernfile"
)

const procRoot = "../testdata/proc"

var subnets = map[string]netip.Prefix{
	"app":       netip.MustParsePrefix("172.18.0.0/16"),
	"telemetry": netip.MustParsePrefix("172.20.0.0/16"),
	"v6":        netip.MustParsePrefix("fd00::/64"),
}

func open(t *testing.T, procRoot, pid string) *Namespace {
	t.Helper()
	namespace, err := Open(procRoot, pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(namespace.Close)
	return namespace
}

func TestInterfacesAreReadWithoutTheLoopbackAndNamedByTheirSubnet(t *testing.T) {
	namespace := open(t, procRoot, "4001")
	var buffer kernfile.Buffer
	if !namespace.HasUnnamed() {
		t.Error("interfaces that were not read count as named")
	}
	if _, err := namespace.Read(&buffer); err != nil {
		t.Fatal(err)
	}
	if err := namespace.NameNetworks(&buffer, subnets); err != nil {
		t.Fatal(err)
	}
	if !namespace.HasUnnamed() {
		t.Error("eth1 counts as named")
	}
	got, err := namespace.Read(&buffer)
	if err != nil {
		t.Fatal(err)
	}
	want := []Interface{
		{Name: "eth1", Counters: Counters{RxBytes: 70, RxPackets: 1, TxBytes: 90, TxPackets: 1}},
		{Name: "eth0", Network: "app", Counters: Counters{
			RxBytes: 1 << 20, RxPackets: 900, RxDropped: 1, TxBytes: 2 << 20, TxPackets: 1800, TxDropped: 2}},
	}
	if !slices.Equal(got, want) {
		t.Errorf("interfaces are %+v\nwant %+v", got, want)
	}
}

func TestInterfacesThatAllHaveANetworkNeedNoMoreNaming(t *testing.T) {
	namespace := open(t, procRoot, "4001")
	var buffer kernfile.Buffer
	if _, err := namespace.Read(&buffer); err != nil {
		t.Fatal(err)
	}
	all := map[string]netip.Prefix{"all": netip.MustParsePrefix("172.16.0.0/12")}
	if err := namespace.NameNetworks(&buffer, all); err != nil || namespace.HasUnnamed() {
		t.Errorf("error %v, interfaces %+v", err, namespace.interfaces)
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	namespace := open(t, procRoot, "4001")
	var buffer kernfile.Buffer
	allocations := testing.AllocsPerRun(10, func() {
		if _, err := namespace.Read(&buffer); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func TestAnInterfaceThatComesLaterIsReadUnderItsOwnName(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(procRoot)); err != nil {
		t.Fatal(err)
	}
	dev := filepath.Join(root, "4001/net/dev")
	line := func(name string) string { return name + ": 1 2 0 3 0 0 0 0 4 5 0 6 0 0 0 0\n" }
	namespace := open(t, root, "4001")
	var buffer kernfile.Buffer
	for _, names := range [][]string{{"eth0"}, {"eth1", "eth0"}, {}, {"eth0"}} {
		var text string
		for _, name := range names {
			text += line(name)
		}
		if err := os.WriteFile(dev, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		interfaces, err := namespace.Read(&buffer)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, i := range interfaces {
			if want := (Counters{1, 2, 3, 4, 5, 6}); i.Counters != want {
				t.Errorf("%s has %+v", i.Name, i.Counters)
			}
			got = append(got, i.Name)
		}
		if !slices.Equal(got, names) {
			t.Errorf("interfaces are %q, want %q", got, names)
		}
	}
}

func TestTheHostsInterfacesAreNotAContainers(t *testing.T) {
	if _, err := Open(procRoot, "1"); !errors.Is(err, ErrHostNamespace) {
		t.Errorf("error is %v", err)
	}
}

func TestAProcessThatHasExitedIsGone(t *testing.T) {
	if _, err := Open(procRoot, "4999"); !kernfile.Gone(err) {
		t.Errorf("error is %v", err)
	}
}
