package main

import (
	crypto "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
)

// identifier gives traces IDs and values that no other trace has, whatever the load's seed.
type identifier struct{ random *rand.ChaCha8 }

func newIdentifier() identifier {
	var seed [32]byte
	_, _ = crypto.Read(seed[:]) // never fails: https://pkg.go.dev/crypto/rand#Read
	return identifier{rand.NewChaCha8(seed)}
}

func (i identifier) identify(t *trace) {
	binary.BigEndian.PutUint64(t.id[:8], i.random.Uint64())
	binary.BigEndian.PutUint64(t.id[8:], i.random.Uint64())
	t.values = i.random.Uint64()
	for s := range t.spans {
		binary.BigEndian.PutUint64(t.spans[s].id[:], i.random.Uint64())
	}
}
