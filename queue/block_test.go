package queue

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBlocks holds blocks against a set of offsets, over random deliveries, settlings
// and floors that pass: each block has exactly what was delivered of it, each entry
// knows where it is, and what the floor has passed is let go of.
func TestBlocks(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	t.Log("seed", seed)
	var s blocks
	out := make(map[int64]*entry)
	floor := int64(0)
	for range 2000 {
		offset := floor + rng.Int64N(4*blockSize)
		switch e := out[offset]; {
		case rng.IntN(200) == 0: // all below a new floor is done
			floor = offset
			for o, e := range out {
				if o < floor {
					s.remove(e)
					delete(out, o)
				}
			}
			for _, b := range s.m {
				if b.to() <= floor {
					b.written = true
					s.drop(b)
					require.Nil(t, s.m[b.number])
					anew := s.of(b.from())
					require.Same(t, s.m[anew.number], anew)
					s.drop(anew)
				}
			}
		case e == nil:
			e = &entry{offset: offset}
			s.add(e)
			s.add(e)
			out[offset] = e
		default:
			s.remove(e)
			s.remove(e)
			delete(out, offset)
		}
		b := s.of(floor + rng.Int64N(4*blockSize))
		var want, got []int64
		for o := range out {
			if b.from() <= o && o < b.to() {
				want = append(want, o)
			}
		}
		for i, e := range b.delivered {
			require.Equal(t, i+1, e.slot)
			got = append(got, e.offset)
		}
		slices.Sort(want)
		slices.Sort(got)
		require.Equal(t, want, got, "block %d", b.number)
		require.False(t, b.written)
		require.LessOrEqual(t, len(s.m), 5)
	}
}

// TestEntriesAreUsedAgain: a Message whose entry stands for another message by now is
// not taken for that one.
func TestEntriesAreUsedAgain(t *testing.T) {
	q := begin(t, t.TempDir(), Options{})
	push(t, q, "1", "2", "3")
	var held [3]Message
	for i := range held {
		m, ok, err := q.TryNext("c")
		require.NoError(t, err)
		require.True(t, ok)
		held[i] = m
	}
	require.NoError(t, held[1].Ack())
	require.NoError(t, q.Seek("c", 0)) // all are to be delivered again, in the same entries
	for i := range held {
		require.ErrorIs(t, held[i].Nack(0), ErrExpired)
	}
	var again [3]Message
	for i := range again {
		m, _, err := q.TryNext("c")
		require.NoError(t, err)
		again[i] = m
	}
	for i := range held {
		require.ErrorIs(t, held[i].Ack(), ErrExpired)
		require.ErrorIs(t, held[i].Nack(0), ErrExpired)
		require.ErrorIs(t, held[i].Extend(), ErrExpired)
	}
	require.True(t, slices.ContainsFunc(held[:], func(m Message) bool { return m.entry == again[0].entry }), "or this tests nothing")
	for i := range again {
		require.NoError(t, again[i].Ack())
	}
	s, err := q.Stats("c")
	require.NoError(t, err)
	require.Equal(t, Stats{Floor: 3}, s)
}

// TestForgottenWhileUsed: who is about to take a message of a consumer that is
// forgotten begins it anew, and does not bring back its place.
func TestForgottenWhileUsed(t *testing.T) {
	dir := t.TempDir()
	q := begin(t, dir, Options{})
	push(t, q, "1", "2")
	m, _, err := q.TryNext("c")
	require.NoError(t, err)
	require.NoError(t, m.Ack())
	old, err := q.consumer("c")
	require.NoError(t, err)
	require.NoError(t, q.Forget("c"))
	_, _, err = old.hand(q.opts.Env.Now(), &m)
	require.ErrorIs(t, err, errForgotten)
	require.NoError(t, q.restatePlaces(background))
	require.NoError(t, q.Close())
	q = begin(t, dir, Options{})
	require.Empty(t, q.Consumers())
	require.Equal(t, []string{"1", "2"}, all(t, q, "c"))
}

// TestRestatedPlaces: what is dropped of the log of places is said again before: the
// place, what is done out of order, what was delivered how often, and when it is due.
func TestRestatedPlaces(t *testing.T) {
	world := newModel(t, 1)
	world.o.Order = ByOffset
	world.restart(world.mem.Kill(), false)
	q := world.q
	push(t, q, "1", "2", "3", "4")
	var held [3]Message
	for i := range held {
		m, _, err := q.TryNext("c")
		require.NoError(t, err)
		held[i] = m
	}
	require.NoError(t, held[0].Ack())
	require.NoError(t, held[2].Ack())
	require.NoError(t, held[1].Nack(time.Second))
	end := q.places.End()
	require.NoError(t, q.restatePlaces(background))
	require.Equal(t, end, q.places.First())
	world.restart(world.mem.Kill(), false)
	q = world.q
	m, ok, err := q.TryNext("c")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "4", string(m.Value))
	world.clock = world.clock.Add(time.Second)
	m, ok, err = q.TryNext("c")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "2", string(m.Value))
	require.Equal(t, 2, m.Deliveries)
	require.NoError(t, q.Close())
}
