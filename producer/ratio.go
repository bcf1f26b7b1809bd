package producer

import (
	"math"
	"sync/atomic"
)

// ratio estimates how much smaller a topic's batches become, from how much they
// did: quick to grow, slow to shrink, so that batches are rather too small than
// too large (Kafka's CompressionRatioEstimator).
type ratio struct{ bits atomic.Uint64 } // 0 is 1

const (
	ratioWorse  = 0.05
	ratioBetter = 0.005
	ratioMargin = 1.05
)

func (r *ratio) load() float64 {
	if bits := r.bits.Load(); bits != 0 {
		return math.Float64frombits(bits)
	}
	return 1
}

func (r *ratio) store(v float64) { r.bits.Store(math.Float64bits(v)) }

// observe is told of a batch. It is the sender's alone.
func (r *ratio) observe(before, after int) {
	estimate, seen := r.load(), float64(after)/float64(before)
	if seen > estimate {
		r.store(max(estimate+ratioWorse, seen))
	} else {
		r.store(max(estimate-ratioBetter, seen))
	}
}

// reset is for when an estimate led to a batch that was refused as too large.
func (r *ratio) reset() { r.store(1) }

// estimate is what n bytes probably become.
func (r *ratio) estimate(n int64) int64 { return int64(float64(n) * r.load() * ratioMargin) }
