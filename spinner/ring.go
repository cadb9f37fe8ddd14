package main

import (
	"math/rand"
	"os"
	"strconv"
	"strings"
)

const (
	entryBytes = 8
	// usualRingBytes is for machines that do not report the size of their caches.
	usualRingBytes = 256 << 10
	cacheSizeFile  = "sys/devices/system/cpu/cpu0/cache/index2/size"
)

// ringBytes is half of the second-level cache, whose size it reads below root. A neighbour on the same physical core shares
// that cache, so a step's time follows the cost of memory accesses of programs.
func ringBytes(root string) int {
	text, err := os.ReadFile(root + cacheSizeFile)
	if err != nil {
		return usualRingBytes
	}
	kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(string(text)), "K"))
	if err != nil || kib < 1 {
		return usualRingBytes
	}
	return kib << 10 / 2
}

// newRing returns one cycle through all entries in random order, which no prefetcher can predict (Sattolo's
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

// walk goes once around the ring. It starts and ends at the same entry, which it returns.
func walk(ring []int, from int) int {
	at := from
	for range ring {
		at = ring[at]
	}
	return at
}
