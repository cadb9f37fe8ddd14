package main

import (
	"errors"
	"math/rand"
	"os"
	"strconv"
	"strings"
)

const (
	entryBytes = 8
	// usualRingBytes is for machines that do not report the size of their caches.
	usualRingBytes = 256 << 10
	// ringsBytes is the most that the rings of all CPUs have together: half of mem_limit in compose.yaml.
	ringsBytes = 32 << 20
	// The second-level cache of the first CPU.
	cacheFolder    = "sys/devices/system/cpu/cpu0/cache/index2/"
	cacheSizeFile  = cacheFolder + "size"
	cacheUsersFile = cacheFolder + "shared_cpu_list"
)

// ringBytes is half of a CPU's share of the second-level cache, which it reads below root; at most its share of
// ringsBytes. A neighbour on the same physical core shares that cache, so a step's time follows the cost of memory
// accesses of programs.
func ringBytes(root string, cpus int) int {
	return min(halfCacheBytes(root), ringsBytes/cpus)
}

func halfCacheBytes(root string) int {
	text, err := os.ReadFile(root + cacheSizeFile)
	if err != nil {
		return usualRingBytes
	}
	kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(string(text)), "K"))
	if err != nil || kib < 1 {
		return usualRingBytes
	}
	users, _ := os.ReadFile(root + cacheUsersFile) // without the file, the cache is one CPU's
	return kib << 10 / 2 / cpusIn(string(users))
}

// cpusIn counts the CPUs of a list such as 0-1,64-65. What is no such list counts as one CPU.
func cpusIn(list string) int {
	count := 0
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, errFrom := strconv.Atoi(first)
		to, errTo := strconv.Atoi(last)
		if errors.Join(errFrom, errTo) != nil || to < from {
			return 1
		}
		count += to - from + 1
	}
	return count
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
