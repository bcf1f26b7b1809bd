package fuzz

import (
	"math/bits"

	"pgregory.net/rapid"
)

// choices is where a machine's decisions come from: rapid, which shrinks them,
// or the bytes of a fuzz input.
type choices interface {
	// pick is in [0, n).
	pick(what string, n int) int
	// more says whether there is another step to take.
	more() bool
}

// drawn are choices that rapid makes.
type drawn struct {
	t     *rapid.T
	steps int
}

func (d *drawn) pick(what string, n int) int { return rapid.IntRange(0, n-1).Draw(d.t, what) }

func (d *drawn) more() bool {
	d.steps--
	return d.steps >= 0
}

// bytesRead are choices spelled by bytes: as many as n needs, zeros at the end.
type bytesRead struct{ rest []byte }

func (b *bytesRead) pick(_ string, n int) int {
	v := 0
	for range (bits.Len(uint(n-1)) + 7) / 8 {
		v <<= 8
		if len(b.rest) > 0 {
			v |= int(b.rest[0])
			b.rest = b.rest[1:]
		}
	}
	return v % n
}

func (b *bytesRead) more() bool { return len(b.rest) > 0 }
