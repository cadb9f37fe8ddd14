package main

import (
	"math/rand"
	"os"
	"strconv"
	"strings"
)

const (
	entryBytes = 8
	// usualRingBytes is for machines that do not tell the size of their caches.
	usualRingBytes = 1 << 20
	cacheSizeFile  = "sys/devices/system/cpu/cpu0/cache/index2/size"
)

// ringBytes is twice the second-level cache, whose size it reads below root: most steps then go to the cache behind it,
// which a neighbour on the machine shares, and a step's time goes up and down with what programs pay for memory.
func ringBytes(root string) int {
	text, err := os.ReadFile(root + cacheSizeFile)
	if err != nil {
		return usualRingBytes
	}
	kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(string(text)), "K"))
	if err != nil || kib < 1 {
		return usualRingBytes
	}
	return 2 * kib << 10
}

// newRing returns one cycle through all entries in random order, so that no prefetcher knows the next step (Sattolo's
// algorithm). ring[i] is the entry after i.
func newRing(entries int, seed int64) []int {
	random := rand.New(rand.NewSource(seed))
	ring := make([]int, entries)
	for i := range ring {
		ring[i] = i
	}
	for i := entries - 1; i > 0; i-- {
		j := random.Intn(i)
		ring[i], ring[j] = ring[j], ring[i]
	}
	return ring
}

// walk goes steps around the ring from an entry, and returns where it ends.
func walk(ring []int, from, steps int) int {
	at := from
	for range steps {
		at = ring[at]
	}
	return at
}
