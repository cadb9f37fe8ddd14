package main

import (
	crypto "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
)

// identifier gives traces IDs and values that no other trace has, whatever the load's seed.
type identifier struct {
	random *rand.ChaCha8
	key    loadKey
}

func newIdentifier(key loadKey) identifier {
	var seed [32]byte
	_, _ = crypto.Read(seed[:]) // never fails: https://pkg.go.dev/crypto/rand#Read
	return identifier{rand.NewChaCha8(seed), key}
}

func (i identifier) identify(t *trace) {
	binary.BigEndian.PutUint64(t.id[:8], i.random.Uint64())
	binary.BigEndian.PutUint64(t.id[8:], i.random.Uint64())
	binary.BigEndian.PutUint32(t.id[4:8], i.key.check(t.id))
	t.values = i.random.Uint64()
	for s := range t.spans {
		binary.BigEndian.PutUint64(t.spans[s].id[:], i.random.Uint64())
	}
}

// loadKey tells a load's traces from all others: four bytes of an ID follow from its last eight and the key. Without
// the key they look as random as the rest.
type loadKey uint64

func newLoadKey() loadKey {
	var key [8]byte
	_, _ = crypto.Read(key[:])
	return loadKey(binary.BigEndian.Uint64(key[:]) | 1) // odd: no bit of the ID is lost in the product
}

func (k loadKey) check(id traceID) uint32 {
	return uint32(binary.BigEndian.Uint64(id[8:]) * uint64(k) >> 32)
}

// has reports whether a trace is one of the load. It takes one of 4 billion others for one.
func (k loadKey) has(id traceID) bool { return binary.BigEndian.Uint32(id[4:8]) == k.check(id) }
