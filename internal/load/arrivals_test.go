package load

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestFixedArrivalsDoNotDrift(t *testing.T) {
	for _, c := range []struct {
		i    uint64
		perS float64
		want time.Duration
	}{
		{0, 200, 0},
		{1, 200, 5 * time.Millisecond},
		{3, 600, 5 * time.Millisecond},
		{1_000_000, 300, 3_333_333_333_333},
	} {
		if got := Fixed(c.i, c.perS); got != c.want {
			t.Errorf("request %d at %v/s is due after %v, want %v", c.i, c.perS, got, c.want)
		}
	}
}

func gaps(perS float64, seed uint64, count int) []float64 {
	arrivals, last := NewPoisson(perS, seed), time.Duration(0)
	found := make([]float64, count)
	for i := range found {
		due := arrivals.Next()
		found[i], last = (due - last).Seconds(), due
	}
	return found
}

// Kolmogorov-Smirnov: 1.63 / sqrt(n) is the critical distance at a significance of 1 %.
func TestPoissonGapsAreExponential(t *testing.T) {
	const perS, count = 300, 20_000
	for seed := range uint64(3) {
		found := gaps(perS, seed, count)
		slices.Sort(found)
		distance := 0.0
		for i, gap := range found {
			expected := 1 - math.Exp(-perS*gap)
			distance = max(distance, math.Abs(expected-float64(i)/count), math.Abs(expected-float64(i+1)/count))
		}
		if distance > 1.63/math.Sqrt(count) {
			t.Errorf("seed %d: KS distance %v", seed, distance)
		}
	}
}

func TestASeedMakesOneSchedule(t *testing.T) {
	if !slices.Equal(gaps(300, 7, 1000), gaps(300, 7, 1000)) {
		t.Error("the same seed made two schedules")
	}
	if slices.Equal(gaps(300, 7, 1000), gaps(300, 8, 1000)) {
		t.Error("two seeds made the same schedule")
	}
}
