package main

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

// seenLimit is how many spans may come between a span and its repetition.
const seenLimit = 1 << 20

// seenIDs knows the span IDs that came last. An ID is known while as many others come as the limit says; twice as many
// are known at most.
type seenIDs struct {
	mutex        sync.Mutex
	newer, older []uint64 // hash tables, half full at most; a free slot is 0
	used         int      // slots of newer
}

// newSeenIDs knows none yet; the limit is a power of two.
func newSeenIDs(limit int) *seenIDs {
	return &seenIDs{newer: make([]uint64, 2*limit), older: make([]uint64, 2*limit)}
}

// add returns how many of the IDs were known already.
func (s *seenIDs) add(ids []uint64) (known uint64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, id := range ids {
		place := slot(s.newer, id)
		if *place == id || *slot(s.older, id) == id {
			known++
			continue
		}
		if 2*s.used == len(s.newer) {
			s.newer, s.older, s.used = s.older, s.newer, 0
			clear(s.newer)
			place = slot(s.newer, id)
		}
		*place = id
		s.used++
	}
	return known
}

// slot returns where an ID is in a table, or the free slot where it would be.
func slot(table []uint64, id uint64) *uint64 {
	mixed := id * 0x9e3779b97f4a7c15 // IDs need not be random in each bit
	i := mixed >> (64 - bits.TrailingZeros(uint(len(table))))
	for table[i] != 0 && table[i] != id {
		i = (i + 1) & uint64(len(table)-1)
	}
	return &table[i]
}

// spanIDs appends the span IDs of a request that readOTLP has read; it leaves out those that are not 8 bytes, or zeroes.
func spanIDs(request []byte, ids []uint64) []uint64 {
	_ = eachField(request, resourceSpansField, func(resource []byte) error {
		return eachField(resource, scopeSpansField, func(scope []byte) error {
			return eachField(scope, spanField, func(fields []byte) error {
				if id := spanIDOf(fields); id != 0 {
					ids = append(ids, id)
				}
				return nil
			})
		})
	})
	return ids
}

// spanIDOf walks over a span's fields up to its ID, which is one of the first; it returns 0 if there is none.
func spanIDOf(span []byte) uint64 {
	for len(span) > 0 {
		key, size := binary.Uvarint(span)
		content, rest, err := cutField(span[size:], key&7)
		if err != nil {
			return 0
		}
		if key == spanIDField<<3|lengthDelimited && len(content) == 8 {
			return binary.BigEndian.Uint64(content)
		}
		span = rest
	}
	return 0
}
