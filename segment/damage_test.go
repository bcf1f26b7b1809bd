package segment_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// at is an encoded batch with its base offset set.
func at(t testing.TB, p put) []byte {
	t.Helper()
	raw := encode(t, p)
	record.SetBaseOffset(raw, p.offset)
	return raw
}

// matryoshka is a segment whose records hold encoded batches, with the offsets
// that could be mistaken for those of the log.
func matryoshka(t testing.TB, cfg *segment.Config) (s *segment.Segment, starts []int64) {
	t.Helper()
	s = create(t, cfg, 0)
	var b record.Builder
	for n := range int64(9) {
		b.Reset(record.BatchOptions{})
		for i := range int64(3) {
			inside := append(at(t, put{offset: 3*n + i, count: 1, ms: 1}), at(t, put{offset: 3*n + i + 1, count: 1, ms: 1})[:70]...)
			require.NoError(t, b.Add(&record.Record{Key: fmt.Appendf(nil, "of the log %d", 3*n+i), Value: inside, Time: time.UnixMilli(1000 * (1 + n))}))
		}
		raw, err := b.Build()
		require.NoError(t, err)
		h, err := record.ParseHeader(raw)
		require.NoError(t, err)
		starts = append(starts, s.Size())
		require.NoError(t, s.Reserve(int64(len(raw))))
		require.NoError(t, s.Append(raw, &h, 3*n))
	}
	require.NoError(t, s.Seal())
	return s, append(starts, s.Size())
}

// eachFlip calls f with the segment opened anew after each flip of a bit of its
// log, and the number of the batch that the bit is in.
func eachFlip(t *testing.T, step int, indexed bool, f func(bit, batch int, starts []int64, s *segment.Segment)) {
	fs := world(t)
	cfg := config(fs)
	cfg.IndexInterval = 1
	s, starts := matryoshka(t, cfg)
	facts := s.Facts()
	require.NoError(t, s.Close())
	file, err := fs.OpenFile(dir+"/"+segment.Name(0, segment.LogSuffix), os.O_RDWR, 0)
	require.NoError(t, err)
	content := make([]byte, facts.Size)
	_, err = file.ReadAt(content, 0)
	require.NoError(t, err)
	batch := 0
	for bit := 0; bit < len(content)*8; bit += step {
		pos := int64(bit / 8)
		for pos >= starts[batch+1] {
			batch++
		}
		_, err := file.WriteAt([]byte{content[pos] ^ 1<<(bit%8)}, pos)
		require.NoError(t, err)
		if !indexed {
			_ = fs.Remove(dir + "/" + segment.Name(0, segment.IndexSuffix)) // the last one may have mapped nothing
		}
		s := segment.OpenSealed(cfg, facts)
		f(bit, batch, starts, s)
		require.NoError(t, s.Close())
		_, err = file.WriteAt(content[pos:pos+1], pos)
		require.NoError(t, err)
	}
}

// A batch within a record of a damaged batch does not come out as a batch of the
// log, and of all others none is missing.
func TestDamageOfBatchesOfBatches(t *testing.T) {
	eachFlip(t, 1, true, func(bit, batch int, _ []int64, s *segment.Segment) {
		p, err := s.Pin()
		require.NoError(t, err)
		defer p.Release()
		var got []int64
		lost := 0
		for pos, next := int64(0), int64(0); ; {
			var b record.Batch
			_, err := p.Read(&b, pos, next, nil)
			var d *segment.DamageError
			if err == io.EOF {
				break
			}
			if errors.As(err, &d) {
				lost++
				if d.Next < 0 {
					break
				}
				pos, next = d.NextPosition, d.Next
				continue
			}
			require.NoError(t, err)
			require.EqualValues(t, 3, b.Count, "bit %d", bit)
			got, pos, next = append(got, b.BaseOffset), pos+int64(b.Size), b.NextOffset()
		}
		want := []int64{0, 3, 6, 9, 12, 15, 18, 21, 24}
		if lost > 0 {
			want = append(want[:batch], want[batch+1:]...)
		}
		require.Equal(t, want, got, "bit %d of batch %d", bit, batch)
	})
}

// Looking an offset up goes past damage that it is not in.
func TestFindPastDamage(t *testing.T) {
	eachFlip(t, 7, true, func(bit, batch int, starts []int64, s *segment.Segment) {
		for n := range int64(9) {
			b, err := read(t, s, 3*n+1)
			var d *segment.DamageError
			if errors.As(err, &d) && d.Position == starts[batch] && d.Next >= 0 && d.Next <= 3*n+1 {
				continue // the damaged header claims that offset too; who reads on finds it
			}
			if n == int64(batch) && errors.As(err, &d) {
				require.LessOrEqual(t, d.Offset, 3*n)
				require.True(t, d.Next < 0 || d.Next > 3*n+1, "bit %d: %v", bit, d)
				continue
			}
			require.NoError(t, err, "bit %d of batch %d, looking for %d", bit, batch, 3*n+1)
			require.Equal(t, 3*n, b.BaseOffset)
		}
	})
}

// A time is looked up right, or the damage is reported that may hold the answer.
func TestFindTimeInDamage(t *testing.T) {
	eachFlip(t, 3, true, func(bit, batch int, _ []int64, s *segment.Segment) {
		p, err := s.Pin()
		require.NoError(t, err)
		defer p.Release()
		for n := range int64(9) {
			offset, ok, err := p.FindTime(1000*(1+n), 0, nil)
			var d *segment.DamageError
			if errors.As(err, &d) {
				require.GreaterOrEqual(t, n, int64(batch), "bit %d", bit)
				continue
			}
			require.NoError(t, err)
			require.True(t, ok, "bit %d of batch %d, looking for batch %d", bit, batch, n)
			require.Equal(t, 3*n, offset, "bit %d of batch %d", bit, batch)
		}
	})
}

// Indexes derived from a damaged log lead to what can be read.
func TestDerivedIndexesLeadToNoDamage(t *testing.T) {
	eachFlip(t, 1, false, func(bit, batch int, starts []int64, s *segment.Segment) {
		at := int64(bit/8) - starts[batch]
		if at >= 12 && at < 16 || bit%8 != batch && at >= 61 {
			return // the leader epoch is nothing to see; headers above all
		}
		p, err := s.Pin()
		require.NoError(t, err)
		defer p.Release()
		for n := range int64(9) {
			l, err := p.Explain(3 * n)
			var d *segment.DamageError
			if errors.As(err, &d) {
				require.EqualValues(t, batch, n, "bit %d", bit)
				continue
			}
			require.NoError(t, err)
			if int64(batch) != n && l.Slot >= 0 {
				require.NotEqual(t, starts[batch], l.Entry.Position, "bit %d, looking for %d", bit, 3*n)
			}
			offset, ok, err := p.FindTime(1000*(1+n), 0, nil)
			if !errors.As(err, &d) {
				require.True(t, ok && err == nil, "bit %d: %v", bit, err)
				require.Equal(t, 3*n, offset, "bit %d", bit)
			}
		}
	})
}

// Of a length that was damaged the checksum knows what it was, also where a gap
// in the offsets follows and the batches are inside one another.
func TestResyncByChecksum(t *testing.T) {
	for _, gap := range []int64{0, 5} {
		var log []byte
		var starts []int
		for n := range int64(4) {
			starts = append(starts, len(log))
			log = append(log, at(t, put{offset: (2 + gap) * n, count: 2, ms: 7})...)
		}
		for bit := range 20 {
			hurt := append([]byte(nil), log...)
			hurt[starts[1]+11-bit/8] ^= 1 << (bit % 8)
			b, at, ok := segment.Resync(hurt, int64(starts[1]), 2+gap, math.MaxInt64)
			require.True(t, ok, "gap %d, bit %d", gap, bit)
			require.EqualValues(t, starts[2], at, "gap %d, bit %d", gap, bit)
			require.Equal(t, 2*(2+gap), b.BaseOffset)
		}
	}
}

// TestResyncWithinTheSegment: whole batches of another segment, at offsets that this
// one does not come to, do not hide those of this one behind them.
func TestResyncWithinTheSegment(t *testing.T) {
	var log []byte
	var starts []int
	for _, offset := range []int64{0, 2, 100, 102, 104, 8, 10, 12} {
		starts = append(starts, len(log))
		log = append(log, at(t, put{offset: offset, count: 2, ms: 7})...)
	}
	log[starts[1]+30] ^= 1
	for _, bad := range starts[1:5] {
		b, at, ok := segment.Resync(log, int64(bad), 2, 20)
		require.True(t, ok)
		require.EqualValues(t, starts[5], at)
		require.EqualValues(t, 8, b.BaseOffset)
	}
	_, _, ok := segment.Resync(log, int64(starts[1]), 2, 5)
	require.False(t, ok)
}

// Of two batches that overlap, the one that is right is kept if anything tells
// which that is.
func TestCheckOrder(t *testing.T) {
	batches := func(bases ...int64) []byte {
		var log []byte
		for _, base := range bases {
			log = append(log, at(t, put{offset: base, count: 2})...)
		}
		return log
	}
	size := int64(len(batches(0)))
	for name, c := range map[string]struct {
		log       []byte
		next, end int64
		ok        bool
		bad       int64 // which batch Resync is to look behind
	}{
		"in order":                        {batches(4, 6, 8), 4, 10, true, 0},
		"behind a gap":                    {batches(4, 9, 11), 2, 13, true, 0},
		"below":                           {batches(3, 6), 4, 8, false, 0},
		"above the end":                   {batches(20, 6), 4, 8, false, 0},
		"raised, the second follows":      {batches(7, 6, 8), 4, 10, false, 0},
		"raised, the second ends it":      {batches(7, 6), 4, 20, false, 0},
		"raised, the third follows":       {batches(7, 8, 10), 4, 12, false, 0},
		"raised, the second is the last":  {batches(7, 8), 3, 10, false, 0},
		"either":                          {batches(7, 8, 12), 3, 14, false, 1},
		"either, or the second follows":   {batches(7, 5, 12), 3, 14, false, 1},
		"the second is far below":         {batches(7, 1, 12), 4, 14, true, 0},
		"nothing follows":                 {batches(7), 4, 9, true, 0},
		"the second is damaged otherwise": {append(batches(7), 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 66, 0, 0, 0, 0, 2), 4, 14, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := record.ParseHeader(c.log)
			require.NoError(t, err)
			bad, err := segment.CheckOrder(c.log, &h, 0, c.next, c.end)
			if c.ok {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, record.ErrCorrupt)
			require.Equal(t, c.bad*size, bad)
		})
	}
}

// TestAppendBehindDamagedIndexes: whichever bit of an index is flipped, before
// its segment is opened to append or while it is open, appends work and
// everything is found.
func TestAppendBehindDamagedIndexes(t *testing.T) {
	puts := run(0, 40, 2)
	for _, suffix := range []string{segment.IndexSuffix, segment.TimeIndexSuffix} {
		for how, trusted := range map[string]int64{"closed": segment.TrustAll, "killed": 0, "half": 2000, "open": -1} {
			for bit := 0; ; bit += 5 { // to each of a byte's in turn
				fs := world(t)
				cfg := config(fs)
				s := create(t, cfg, 0, puts...)
				require.NoError(t, s.Trim())
				facts := s.Facts()
				name := dir + "/" + segment.Name(0, suffix)
				content, err := vfs.ReadFile(fs, name)
				require.NoError(t, err)
				if bit >= len(content)*8 {
					require.Positive(t, bit)
					break
				}
				f, err := fs.OpenFile(name, os.O_RDWR, 0)
				require.NoError(t, err)
				_, err = f.WriteAt([]byte{content[bit/8] ^ 1<<(bit%8)}, int64(bit/8))
				require.NoError(t, err)
				if how != "open" {
					require.NoError(t, s.Close())
					if trusted == 2000 {
						trusted = facts.Size / 2
					}
					s, err = segment.OpenActive(cfg, facts, trusted)
					require.NoError(t, err)
				}
				more := run(80, 150, 2)
				for i := range more {
					more[i].ms += 1000 * 40
				}
				appendTo(t, s, more...)
				check := func(s *segment.Segment) {
					require.Equal(t, more[len(more)-1].ms, s.MaxTime())
					p, err := s.Pin()
					require.NoError(t, err)
					defer p.Release()
					for i, want := range append(puts[:len(puts):len(puts)], more...) {
						b, err := read(t, s, want.offset+1)
						require.NoError(t, err)
						require.Equal(t, want.offset, b.BaseOffset, "%s, %s, bit %d", suffix, how, bit)
						if i%7 == 0 {
							at, ok, err := p.FindTime(want.ms, 0, nil)
							require.NoError(t, err)
							require.True(t, ok)
							require.Equal(t, want.offset, at, "%s, %s, bit %d", suffix, how, bit)
						}
					}
				}
				check(s)
				require.NoError(t, s.Seal())
				facts = s.Facts()
				require.NoError(t, s.Close())
				s = segment.OpenSealed(cfg, facts)
				check(s)
				require.NoError(t, s.Close())
			}
		}
	}
}
