package segment_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// Find agrees with a walk over all batches, whatever their sizes and gaps,
// while the segment is active, sealed, and opened again.
func TestFindAgreesWithAWalk(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := config(world(t))
		cfg.IndexInterval = rapid.Int64Range(1, 500).Draw(rt, "interval")
		base := rapid.Int64Range(0, 1<<40).Draw(rt, "base")
		next := base
		var puts []put
		for range rapid.IntRange(0, 40).Draw(rt, "batches") {
			p := put{offset: next + rapid.Int64Range(0, 3).Draw(rt, "gap"), count: rapid.IntRange(1, 5).Draw(rt, "count"), ms: 1}
			puts = append(puts, p)
			next = p.offset + int64(p.count)
		}
		s := create(t, cfg, base, puts...)
		check := func(s *segment.Segment) {
			for offset := base; offset < next+2; offset++ {
				want := int64(-1)
				for _, p := range puts {
					if p.offset+int64(p.count) > offset {
						want = p.offset
						break
					}
				}
				b, err := read(t, s, offset)
				if want < 0 {
					require.ErrorIs(rt, err, io.EOF)
					continue
				}
				require.NoError(rt, err)
				require.Equal(rt, want, b.BaseOffset, "looking for %d", offset)
			}
		}
		check(s)
		require.NoError(rt, s.Seal())
		check(s)
		facts := s.Facts()
		require.NoError(rt, s.Close())
		check(segment.OpenSealed(cfg, facts))
		again, err := segment.OpenActive(cfg, facts, segment.TrustAll)
		require.NoError(rt, err)
		check(again)
	})
}

// A time lookup agrees with a linear scan though times repeat and go back.
func TestFindTimeAgreesWithAScan(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := config(world(t))
		cfg.IndexInterval = rapid.Int64Range(1, 300).Draw(rt, "interval")
		var puts []put
		for i := range rapid.IntRange(1, 150).Draw(rt, "batches") {
			puts = append(puts, put{offset: int64(i), count: 1, ms: rapid.Int64Range(0, 60).Draw(rt, "ms")})
		}
		s := create(t, cfg, 0, puts...)
		check := func(s *segment.Segment) {
			p, err := s.Pin()
			require.NoError(rt, err)
			defer p.Release()
			for ms := int64(0); ms < 62; ms++ {
				from := rapid.Int64Range(0, int64(len(puts))).Draw(rt, "from")
				want, found := int64(0), false
				for _, q := range puts[min(from, int64(len(puts))):] {
					if q.ms >= max(ms, 1) {
						want, found = q.offset, true
						break
					}
				}
				got, ok, err := p.FindTime(max(ms, 1), from, nil)
				require.NoError(rt, err)
				require.Equal(rt, found, ok, "ms %d from %d", ms, from)
				require.Equal(rt, want, got, "ms %d from %d", ms, from)
			}
		}
		check(s)
		require.NoError(rt, s.Seal())
		facts := s.Facts()
		require.NoError(rt, s.Close())
		sealed := segment.OpenSealed(cfg, facts)
		check(sealed)
		require.NoError(rt, sealed.Close())
		again, err := segment.OpenActive(cfg, facts, facts.Size)
		require.NoError(rt, err)
		assert.Equal(rt, facts.MaxTime, again.MaxTime())
		assert.Equal(rt, facts.FirstTime, again.FirstTime())
		check(again)
	})
}

// Index files are derived: whatever is in them, a lookup answers by the log.
func TestLyingIndexesNeverDecide(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		fs := world(t)
		cfg := config(fs)
		s := create(t, cfg, 100, run(100, 60, 2)...)
		require.NoError(t, s.Seal())
		facts := s.Facts()
		require.NoError(t, s.Close())
		for _, suffix := range []string{segment.IndexSuffix, segment.TimeIndexSuffix} {
			name := dir + "/" + segment.Name(100, suffix)
			content, err := vfs.ReadFile(fs, name)
			require.NoError(t, err)
			require.NotEmpty(t, content)
			for range 1 + rng.IntN(8) {
				content[rng.IntN(len(content))] = byte(rng.IntN(256))
			}
			if round%4 == 0 {
				content = content[:rng.IntN(len(content))]
			}
			require.NoError(t, vfs.WriteFile(fs, name, content))
		}
		sealed := segment.OpenSealed(cfg, facts)
		for offset := int64(100); offset < 220; offset++ {
			b, err := read(t, sealed, offset)
			require.NoError(t, err)
			require.Equal(t, offset/2*2, b.BaseOffset)
		}
		require.NoError(t, sealed.Close())
	}
}

func TestMissingIndexIsDerivedAndWritten(t *testing.T) {
	fs := world(t)
	cfg := config(fs)
	s := create(t, cfg, 0, run(0, 60, 2)...)
	require.NoError(t, s.Seal())
	facts := s.Facts()
	require.NoError(t, s.Close())
	name := dir + "/" + segment.Name(0, segment.IndexSuffix)
	before, err := vfs.ReadFile(fs, name)
	require.NoError(t, err)
	require.NoError(t, fs.Remove(name))

	sealed := segment.OpenSealed(cfg, facts)
	_, err = read(t, sealed, 50)
	require.NoError(t, err)
	after, err := vfs.ReadFile(fs, name)
	require.NoError(t, err)
	assert.Equal(t, before, after, "what is derived is what live appends wrote")
}

// Sealed files are cut to what they hold; an empty segment costs little disk.
func TestSealCutsFiles(t *testing.T) {
	fs := world(t)
	cfg := config(fs)
	cfg.Bytes = 1 << 20
	s := create(t, cfg, 0)
	assert.Less(t, fs.Used(), int64(2<<20))
	appendTo(t, s, run(0, 60, 2)...)
	require.NoError(t, s.Seal())
	f := s.Facts()
	for suffix, want := range map[string]int64{
		segment.LogSuffix: f.Size, segment.IndexSuffix: f.IndexBytes, segment.TimeIndexSuffix: f.TimeBytes,
	} {
		info, err := fs.Stat(dir + "/" + segment.Name(0, suffix))
		require.NoError(t, err)
		assert.Equal(t, want, info.Size(), suffix)
	}
	assert.EqualValues(t, 120, f.Next)
	assert.Positive(t, f.IndexBytes)
	assert.Equal(t, int64(1_700_000_000_000), f.FirstTime)
	assert.Equal(t, int64(1_700_000_059_000), f.MaxTime)
}

// A reader that has a segment pinned sees the old bytes after a truncation; one
// that comes later sees only what is left.
func TestTruncateUnderReaders(t *testing.T) {
	for _, pinned := range []bool{false, true} {
		fs := world(t)
		cfg := config(fs)
		s := create(t, cfg, 0, run(0, 50, 2)...)
		old, err := s.Pin()
		require.NoError(t, err)
		if !pinned {
			old.Release()
		}
		f, err := s.FactsBelow(41) // inside the batch [40, 42)
		require.NoError(t, err)
		assert.EqualValues(t, 40, f.Next)
		require.NoError(t, s.TruncateTo(f))
		_, err = s.Pin()
		require.ErrorIs(t, err, segment.ErrGone)

		again, err := segment.OpenActive(cfg, f, f.Size)
		require.NoError(t, err)
		appendTo(t, again, put{offset: 40, count: 1, ms: 7})
		b, err := read(t, again, 40)
		require.NoError(t, err)
		assert.EqualValues(t, 1, b.Count)
		assert.EqualValues(t, 41, again.Next())
		if pinned {
			pos, _, err := old.Find(98)
			require.NoError(t, err)
			var b record.Batch
			_, err = old.Read(&b, pos, 0, nil)
			require.NoError(t, err)
			assert.EqualValues(t, 98, b.BaseOffset)
			old.Release()
		}
	}
}

func TestTruncateToNothingAndToAll(t *testing.T) {
	cfg := config(world(t))
	s := create(t, cfg, 10, run(10, 5, 2)...)
	f, err := s.FactsBelow(10)
	require.NoError(t, err)
	assert.Equal(t, segment.Empty(10), f)
	f, err = s.FactsBelow(20)
	require.NoError(t, err)
	assert.EqualValues(t, 20, f.Next)
	assert.Equal(t, s.Size(), f.Size)
}

// Each flipped bit of a batch is met by the reader that needs the batch, named
// by place, and the batches around it stay readable.
func TestEveryFlippedBitIsFound(t *testing.T) {
	fs := world(t)
	cfg := config(fs)
	s := create(t, cfg, 0, run(0, 3, 1)...)
	p, err := s.Pin()
	require.NoError(t, err)
	defer p.Release()
	start, _, err := p.Find(1)
	require.NoError(t, err)
	end, _, err := p.Find(2)
	require.NoError(t, err)
	f, err := fs.OpenFile(s.Path(), os.O_RDWR, 0)
	require.NoError(t, err)
	// The base offset and the leader epoch lie outside the checksum.
	for at := start + 16; at < end; at++ {
		for bit := range 8 {
			flip := func() {
				var b [1]byte
				_, err := f.ReadAt(b[:], at)
				require.NoError(t, err)
				b[0] ^= 1 << bit
				_, err = f.WriteAt(b[:], at)
				require.NoError(t, err)
			}
			flip()
			_, err := p.Read(new(record.Batch), start, 1, nil)
			var damage *segment.DamageError
			if !errors.Is(err, record.ErrUnsupportedMagic) {
				require.ErrorIs(t, err, record.ErrCorrupt, "byte %d bit %d", at, bit)
			}
			require.ErrorAs(t, err, &damage)
			assert.Equal(t, start, damage.Position)
			assert.EqualValues(t, 1, damage.Offset)
			assert.EqualValues(t, 2, damage.Next)
			assert.Equal(t, end, damage.NextPosition)
			for offset := range int64(3) {
				b, err := read(t, s, offset)
				if offset == 1 {
					require.Error(t, err, "byte %d bit %d", at, bit)
				} else if err == nil {
					require.Equal(t, offset, b.BaseOffset, "byte %d bit %d", at, bit)
				}
			}
			flip()
		}
	}
}

// A quota that is used up is a full disk: what is needed is taken where a step
// finds no room, and an index is derived in memory.
func TestReserveOverQuota(t *testing.T) {
	fs := vfs.NewFaulty(world(t))
	cfg := config(fs)
	cfg.Bytes = 1 << 20
	s := create(t, cfg, 0)
	fs.Add(vfs.Rule{Op: vfs.OpAllocate, Count: 1, Err: syscall.EDQUOT}) // of a whole step
	raw := encode(t, put{offset: 0, count: 1, ms: 1})
	require.NoError(t, s.Reserve(int64(len(raw))), "there was room for what is needed")
	appendTo(t, s, put{offset: 0, count: 1, ms: 1})
	require.NoError(t, s.Close())
	fs.Add(vfs.Rule{Op: vfs.OpAllocate, Path: "*index", Err: syscall.EDQUOT})
	require.NoError(t, fs.Remove(filepath.Join(cfg.Dir, segment.Name(0, segment.IndexSuffix))))
	s, err := segment.OpenActive(cfg, segment.Facts{Next: 1, Size: int64(len(raw)), FirstTime: 1, MaxTime: 1}, 0)
	require.NoError(t, err, "an index is derived in memory")
	b, err := read(t, s, 0)
	require.NoError(t, err)
	require.Zero(t, b.BaseOffset)
	require.NoError(t, s.Close())
}

// Growth that finds the disk full fails whole, and works when there is room.
func TestReserveOnAFullDisk(t *testing.T) {
	for room := int64(0); room < 400<<10; room += 3571 {
		fs := world(t)
		cfg := config(fs)
		cfg.Bytes, cfg.IndexInterval = 1<<20, 1
		s := create(t, cfg, 0)
		fs.SetLimit(fs.Used() + room)
		next := int64(0)
		var err error
		for err == nil {
			raw := encode(t, put{offset: next, count: 1, ms: 1 + next})
			h, perr := record.ParseHeader(raw)
			require.NoError(t, perr)
			if err = s.Reserve(int64(len(raw))); err == nil {
				require.NoError(t, s.Append(raw, &h, next))
				next++
			}
		}
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.Equal(t, next, s.Next())
		fs.SetLimit(1 << 40)
		appendTo(t, s, put{offset: next, count: 1, ms: 1 + next})
		require.NoError(t, s.Seal(), "the closing time entry has its room")
		b, err := read(t, s, next)
		require.NoError(t, err)
		require.Equal(t, next, b.BaseOffset)
	}
}

func TestNames(t *testing.T) {
	assert.Equal(t, "00000000000000368796.log", segment.Name(368796, segment.LogSuffix))
	base, suffix, ok := segment.ParseName("00000000000000368796.log.swap")
	assert.True(t, ok)
	assert.EqualValues(t, 368796, base)
	assert.Equal(t, ".log.swap", suffix)
	for _, name := range []string{"", "seglog.checkpoint", "1.log", "00000000000000368796", "0000000000000036879x.log",
		"-0000000000000368796.log", "00000000000000000000-0000000000.checkpoint", "99999999999999999999.log"} {
		_, _, ok := segment.ParseName(name)
		assert.False(t, ok, name)
	}
}

// A log that outgrew the settings it is opened with, its indexes lost: what
// fits is derived, and all of it is found.
func TestReopenWithSmallerSettings(t *testing.T) {
	fs := world(t)
	cfg := config(fs)
	s := create(t, cfg, 0, run(0, 300, 1)...)
	require.NoError(t, s.Trim())
	f := s.Facts()
	require.NoError(t, s.Close())
	require.NoError(t, fs.Remove(dir+"/"+segment.Name(0, segment.IndexSuffix)))
	small := config(fs)
	small.Bytes, small.IndexInterval = 1000, 1
	again, err := segment.OpenActive(small, f, 0)
	require.NoError(t, err)
	for offset := range int64(300) {
		b, err := read(t, again, offset)
		require.NoError(t, err)
		require.Equal(t, offset, b.BaseOffset)
	}
}

// The length is stored after all other bytes of a batch, also of one that goes to
// the file by a write: recovery tells by it what was not whole yet.
func TestLengthComesLast(t *testing.T) {
	fs := world(t)
	faulty := vfs.NewFaulty(fs)
	cfg := config(faulty)
	cfg.Bytes = 1 << 20
	s := create(t, cfg, 7, put{offset: 7, count: 1})
	pos := s.Size()
	raw := encode(t, put{offset: 8, count: 5000})
	require.Greater(t, len(raw), 64<<10)
	h, err := record.ParseHeader(raw)
	require.NoError(t, err)
	require.NoError(t, s.Reserve(int64(len(raw))))
	faulty.Add(vfs.Rule{Op: vfs.OpWriteAt, Count: 1, Err: syscall.EIO, Short: 1000})
	var wrote []vfs.Call
	faulty.Trace = func(c vfs.Call) { wrote = append(wrote, c) }
	require.ErrorIs(t, s.Append(raw, &h, 8), syscall.EIO)
	require.Len(t, wrote, 1)
	require.Equal(t, pos+12, wrote[0].Off)
	content, err := vfs.ReadFile(fs, s.Path())
	require.NoError(t, err)
	require.Equal(t, make([]byte, record.HeaderSize), content[pos:pos+record.HeaderSize], "a batch that failed has no header")
	require.Equal(t, raw[record.HeaderSize:1000], content[pos+record.HeaderSize:pos+1000])
	require.NoError(t, s.Append(raw, &h, 8))
	content, err = vfs.ReadFile(fs, s.Path())
	require.NoError(t, err)
	require.Equal(t, raw, content[pos:pos+int64(len(raw))])
}

// TestCreateSyncsNothing: the files of a new segment have nothing to be made
// durable before something is appended.
func TestCreateSyncsNothing(t *testing.T) {
	fs := vfs.NewFaulty(world(t))
	syncs := fs.Add(vfs.Rule{Op: vfs.OpSync})
	s := create(t, config(fs), 0)
	require.Zero(t, syncs.Matched())
	require.NoError(t, s.Close())
}
