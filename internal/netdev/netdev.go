// Package netdev reads the counters of the network interfaces in a process's network namespace.
package netdev

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/netip"
	"path/filepath"
	"slices"

	"tollbooth/internal/kernfile"
	"tollbooth/internal/parse"
)

// ErrHostNamespace means that a process is in the host's network namespace: the interfaces there are not the container's.
// A container's first process is there for a moment too, before the engine moves it to its own namespace.
var ErrHostNamespace = errors.New("the process is in the host's network namespace")

// Counters of one interface since it was made.
type Counters struct {
	RxBytes, RxPackets, RxDropped uint64
	TxBytes, TxPackets, TxDropped uint64
}

// Interface is one network interface, and the network that it is connected to ("" if unknown).
type Interface struct {
	Name    string
	Network string
	Counters
}

// Namespace holds the open files of one network namespace. They outlive the process that they were opened by,
// and they keep the namespace alive: close it as soon as the container is removed.
type Namespace struct {
	dev, route kernfile.File
	interfaces []Interface
}

// Open opens the network namespace of the process whose folder under procRoot is named pid.
func Open(procRoot, pid string) (*Namespace, error) {
	n := &Namespace{}
	err := n.open(filepath.Join(procRoot, pid, "net"), filepath.Join(procRoot, "1/net"))
	if err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

func (n *Namespace) open(folder, hostFolder string) (err error) {
	if n.dev, err = kernfile.Open(filepath.Join(folder, "dev")); err != nil {
		return err
	}
	if n.route, err = kernfile.Open(filepath.Join(folder, "route")); err != nil {
		return err
	}
	host, err := kernfile.Open(filepath.Join(hostFolder, "dev"))
	if err != nil {
		return err
	}
	defer host.Close()
	// Links under /proc/<pid>/ns are closed to other users, but each namespace has its own inode for net/dev.
	same, err := n.dev.SameAs(&host)
	if err == nil && same {
		err = ErrHostNamespace
	}
	return err
}

// Close closes the namespace's files.
func (n *Namespace) Close() {
	n.dev.Close()
	n.route.Close()
}

// Read returns all interfaces but the loopback one, valid until the next read.
func (n *Namespace) Read(buffer *kernfile.Buffer) ([]Interface, error) {
	text, err := buffer.ReadList(&n.dev)
	if err != nil {
		return nil, err
	}
	count := 0
	for line, rest := parse.Line(text); line != nil; line, rest = parse.Line(rest) {
		name, counters, ok := parseLine(line)
		if !ok || string(name) == "lo" {
			continue
		}
		if count == len(n.interfaces) {
			n.interfaces = append(n.interfaces, Interface{})
		}
		if n.interfaces[count].Name != string(name) {
			n.interfaces[count] = Interface{Name: string(name)}
		}
		n.interfaces[count].Counters = counters
		count++
	}
	n.interfaces = n.interfaces[:count]
	return n.interfaces, nil
}

// HasUnnamed reports whether an interface has no known network, or no interface has been read so far.
func (n *Namespace) HasUnnamed() bool {
	return len(n.interfaces) == 0 ||
		slices.ContainsFunc(n.interfaces, func(i Interface) bool { return i.Network == "" })
}

// NameNetworks finds out which network each interface is connected to, from the subnets it routes to directly.
func (n *Namespace) NameNetworks(buffer *kernfile.Buffer, subnets map[string]netip.Prefix) error {
	text, err := buffer.ReadList(&n.route)
	if err != nil {
		return err
	}
	for i := range n.interfaces {
		n.interfaces[i].Network = networkOf(text, n.interfaces[i].Name, subnets)
	}
	return nil
}

// parseLine reads one interface's line of /proc/net/dev; the two lines of headings have no colon and are not ok.
func parseLine(line []byte) (name []byte, counters Counters, ok bool) {
	colon := bytes.IndexByte(line, ':')
	if colon < 0 {
		return nil, counters, false
	}
	name, _ = parse.Word(line[:colon])
	line = line[colon+1:]
	// bytes packets errs drop fifo frame compressed multicast, then the same eight (almost) for transmission
	for column := range 12 {
		var word []byte
		word, line = parse.Word(line)
		value := parse.Uint(word).Value
		switch column {
		case 0:
			counters.RxBytes = value
		case 1:
			counters.RxPackets = value
		case 3:
			counters.RxDropped = value
		case 8:
			counters.TxBytes = value
		case 9:
			counters.TxPackets = value
		case 11:
			counters.TxDropped = value
		}
	}
	return name, counters, true
}

// networkOf returns the name of the subnet that an interface routes to without a gateway, by the text of /proc/net/route.
func networkOf(text []byte, interfaceName string, subnets map[string]netip.Prefix) string {
	for line, rest := parse.Line(text); line != nil; line, rest = parse.Line(rest) {
		var columns [8][]byte // Iface Destination Gateway Flags RefCnt Use Metric Mask
		for i := range columns {
			columns[i], line = parse.Word(line)
		}
		if string(columns[0]) != interfaceName || string(columns[2]) != "00000000" {
			continue
		}
		destination, ok := parseRouteAddress(columns[1])
		for name, subnet := range subnets {
			if ok && subnet.Contains(destination) {
				return name
			}
		}
	}
	return ""
}

// parseRouteAddress reads an IPv4 address as /proc/net/route has it: hexadecimal, in the byte order of this machine.
func parseRouteAddress(text []byte) (netip.Addr, bool) {
	var inOrder, address [4]byte
	if len(text) != 8 {
		return netip.Addr{}, false
	}
	if _, err := hex.Decode(inOrder[:], text); err != nil {
		return netip.Addr{}, false
	}
	binary.NativeEndian.PutUint32(address[:], binary.BigEndian.Uint32(inOrder[:]))
	return netip.AddrFrom4(address), true
}
