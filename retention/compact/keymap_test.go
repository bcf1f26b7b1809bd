package compact

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestKeyMap: it is a map from hash to the last thing put, until it is full,
// and keeps what it has then.
func TestKeyMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newKeyMap(rapid.Int64Range(minMapBytes, 100*slotBytes).Draw(t, "bytes"), 1<<40)
		want := make(map[uint64]slot)
		for i := range rapid.Int64Range(0, 300).Draw(t, "puts") {
			hash := rapid.Uint64Range(0, 120).Draw(t, "hash") << rapid.SampledFrom([]int{0, 57}).Draw(t, "shift")
			_, known := want[hash]
			ok := m.put(hash, i, inSegment(int(i), i*7))
			require.Equal(t, known || len(want) < m.limit, ok)
			if ok {
				want[hash] = slot{hash, i + 1, inSegment(int(i), i*7)}
			}
		}
		require.Equal(t, len(want), m.used)
		for hash := range uint64(121) {
			offset, p, ok := m.get(hash)
			s, known := want[hash]
			require.Equal(t, known, ok)
			if ok {
				require.Equal(t, s, slot{hash, offset + 1, p})
			}
		}
	})
}

func TestKeyMapSize(t *testing.T) {
	m := newKeyMap(64<<20, 1<<40)
	require.Len(t, m.slots, 64<<20/slotBytes)
	require.Equal(t, 2516581, m.limit) // nine in ten, as Kafka's of that size
	require.Less(t, len(newKeyMap(64<<20, 10).slots), 100, "no more than keys can come")
	require.GreaterOrEqual(t, newKeyMap(64<<20, 10).limit, 10)
	require.Less(t, newKeyMap(minMapBytes, 1<<40).limit, minMapBytes/slotBytes, "one slot is always free")
}

func TestPlace(t *testing.T) {
	for _, number := range []int{0, 1, math.MaxInt32} {
		for _, position := range []int64{0, 61, 1<<31 - 1} {
			p := inSegment(number, position)
			require.Zero(t, p&inKeyFile)
			n, at := p.split()
			require.Equal(t, number, n)
			require.Equal(t, position, at)
		}
	}
	require.NotZero(t, inKeys(0)&inKeyFile)
}
