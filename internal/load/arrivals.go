package load

import (
	"math"
	"math/rand/v2"
	"time"
)

// Fixed returns how long after the schedule's start request i (from 0) is due, at a fixed rate.
func Fixed(i uint64, perS float64) time.Duration {
	return time.Duration(float64(i) / perS * float64(time.Second))
}

// Poisson is a schedule with exponentially distributed gaps. The same seed makes the same schedule.
type Poisson struct {
	perS   float64
	random *rand.Rand
	atS    float64
}

// NewPoisson returns a schedule with a mean rate.
func NewPoisson(perS float64, seed uint64) *Poisson {
	return &Poisson{perS: perS, random: rand.New(rand.NewPCG(seed, 0))}
}

// Next returns how long after the schedule's start the next request is due.
func (p *Poisson) Next() time.Duration {
	p.atS -= math.Log(1-p.random.Float64()) / p.perS
	return time.Duration(p.atS * float64(time.Second))
}
