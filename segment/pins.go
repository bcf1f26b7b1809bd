package segment

import (
	"sync/atomic"

	"github.com/seglog/seglog/internal/invariants"
)

// pins counts who uses a region of mapped memory. It starts at 1, the owner's
// own. This is the only file that touches the count.
//
// Invariant: a count of 0 is final. So acquire is increment-unless-zero in one
// compare-and-swap; loading a pointer and then adding 1 would revive memory
// that the last release has already given back.
type pins struct {
	n atomic.Int64
}

// init gives the owner its pin.
func (p *pins) init() { p.n.Store(1) }

// acquire takes a pin, or reports that the last one is gone.
func (p *pins) acquire() bool {
	for {
		n := p.n.Load()
		if n == 0 {
			return false
		}
		if p.n.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// release gives a pin back and reports that it was the last one.
func (p *pins) release() (last bool) {
	n := p.n.Add(-1)
	invariants.Check(n >= 0, "segment: a pin was released twice")
	return n == 0
}

// seize takes the owner's pin away if it is the only one left: nobody has the
// region pinned and nobody can pin it any more.
func (p *pins) seize() bool { return p.n.CompareAndSwap(1, 0) }

// held is the number of pins beside the owner's, for reporting.
func (p *pins) held() int64 { return max(p.n.Load()-1, 0) }
