package record

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestOutlineAgrees with ParseHeader and Parse, of batches that are changed
// somewhere in their header, cut or damaged.
func TestOutlineAgrees(t *testing.T) {
	var b Builder
	rapid.Check(t, func(t *rapid.T) {
		b.Reset(drawOptions(t))
		for range rapid.IntRange(1, 4).Draw(t, "records") {
			r := drawRecord(t)
			require.NoError(t, b.Add(&r))
		}
		built, err := b.Build()
		require.NoError(t, err)
		raw := append(append([]byte(nil), built...), 1, 2, 3)
		switch rapid.IntRange(0, 4).Draw(t, "damage") {
		case 0:
			raw = raw[:rapid.IntRange(0, len(raw)).Draw(t, "length")]
		case 1:
			raw[rapid.IntRange(0, HeaderSize-1).Draw(t, "byte")] = rapid.Byte().Draw(t, "value")
		case 2:
			at := rapid.SampledFrom([]int{posLength, posLastOffsetDelta, posCount, posBaseOffset, posBaseOffset + 4}).Draw(t, "field")
			binary.BigEndian.PutUint32(raw[at:], rapid.Uint32().Draw(t, "number"))
		case 3:
			raw[rapid.IntRange(0, len(raw)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		h, err := ParseHeader(raw)
		o, ok := ParseOutline(raw)
		require.Equal(t, err == nil, ok, "%v", err)
		if ok {
			require.Equal(t, Outline{Size: h.Size, First: h.BaseOffset, Last: h.LastOffset()}, o)
		}
		whole, err := Parse(raw)
		o, ok = ParseWhole(raw)
		require.Equal(t, err == nil, ok, "%v", err)
		if ok {
			require.Equal(t, Outline{Size: whole.Size, First: whole.BaseOffset, Last: whole.LastOffset()}, o)
		}
	})
}
