package rot

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

var (
	number = flag.Int("harms", 40, "TestLarge: so many harms in each state")
	seed   = flag.Uint64("seed", 1, "TestLarge: of the first of them")
)

var large = variety{"large-0", 32 << 10, func(t testing.TB, w *writer) {
	part := func() {
		for range 600 {
			batch(t, w, 1+w.n%4)
		}
	}
	part()
	w.durable()
	part()
}}

// harms are what is done to a stretch of a file, or to those of two.
var harms = map[string]func(chance *rand.Rand, a, b []byte){
	"overwritten": func(chance *rand.Rand, a, _ []byte) {
		for i := range a {
			a[i] = byte(chance.Uint32())
		}
	},
	"zeroed":     func(_ *rand.Rand, a, _ []byte) { clear(a) },
	"duplicated": func(_ *rand.Rand, a, b []byte) { copy(a, b) },
	"swapped": func(_ *rand.Rand, a, b []byte) {
		for i := range min(len(a), len(b)) {
			a[i], b[i] = b[i], a[i]
		}
	},
}

// TestLarge harms a log of some hundred KiB, a stretch of up to 8 KiB at a time:
// no record is invented, none is missing that no error covers, and after a repair
// the log takes appends and opens with all that could be read.
func TestLarge(t *testing.T) {
	for _, s := range []state{closed, killed, foreign} {
		b := build(t, large, s)
		all := files(t, b.copy(), b.dir())
		names := slices.Sorted(maps.Keys(all))
		size := 0
		for _, content := range all {
			size += len(content)
		}
		require.Greater(t, size, 100<<10)
		hit := 0
		for i := range *number {
			chance := rand.New(rand.NewPCG(*seed+uint64(i), 7))
			kind := slices.Sorted(maps.Keys(harms))[chance.IntN(len(harms))]
			t.Run(fmt.Sprintf("%s/%s-%d", s, kind, *seed+uint64(i)), func(t *testing.T) {
				m := b.copy()
				one, other := pick(chance, names, all), pick(chance, names, all)
				if kind == "duplicated" {
					other = one
				}
				harm(t, chance, m, b.dir(), one, other, harms[kind])
				hit += afterHarm(t, b, m, one+", "+other)
			})
		}
		require.NotZero(t, hit, "no record was hit")
	}
}

// pick picks a file by its size, mostly.
func pick(chance *rand.Rand, names []string, all map[string][]byte) string {
	for {
		name := names[chance.IntN(len(names))]
		if n := len(all[name]); n > 0 && (strings.HasSuffix(name, ".log") || chance.IntN(8) == 0) {
			return name
		}
	}
}

// stretch is a part of up to 8 KiB.
func stretch(chance *rand.Rand, content []byte) []byte {
	from := chance.IntN(len(content))
	return content[from:min(from+1+chance.IntN(1<<(1+chance.IntN(13))), len(content))]
}

func harm(t testing.TB, chance *rand.Rand, m *vfs.Mem, dir, one, other string, do func(chance *rand.Rand, a, b []byte)) {
	t.Helper()
	read := func(name string) []byte {
		content, err := vfs.ReadFile(m, filepath.Join(dir, name))
		require.NoError(t, err)
		return content
	}
	write := func(name string, content []byte) {
		f, err := m.OpenFile(filepath.Join(dir, name), os.O_RDWR, 0)
		require.NoError(t, err)
		_, err = f.WriteAt(content, 0)
		require.NoError(t, errors.Join(err, f.Close()))
	}
	a := read(one)
	b := a
	if other != one {
		b = read(other)
	}
	do(chance, stretch(chance, a), stretch(chance, b))
	write(one, a)
	if other != one {
		write(other, b)
	}
}

// afterHarm returns how many records cannot be read.
func afterHarm(t *testing.T, b *built, m *vfs.Mem, what string) (lost int) {
	t.Helper()
	o := b.options(m)
	o.Mode = log.ReadOnly
	l, err := log.Open(ctx, b.dir(), o)
	require.NoError(t, err, what)
	s := look(l, nil)
	s.at = nil
	require.NoError(t, l.Close())
	for _, fault := range s.recordsUntrue(&b.want) {
		if b.state == foreign && strings.HasPrefix(fault, "missing") && s.end < b.want.end {
			continue // the tail of what nothing vouches for is cut
		}
		t.Errorf("%s: %s", what, fault)
	}
	lost = len(b.want.records) - len(s.records)

	o.Mode = log.Repair
	l, err = log.Open(ctx, b.dir(), o)
	require.NoError(t, err, what)
	first, err := l.AppendSync(ctx, record.Record{Value: []byte("behind")})
	require.NoError(t, err)
	require.NoError(t, l.Close())
	o.Mode = log.ReadWrite
	l, err = log.Open(ctx, b.dir(), o)
	require.NoError(t, err, what)
	require.Empty(t, l.Recovery().Actions, what)
	after := look(l, nil)
	require.Empty(t, after.errs, what)
	require.Equal(t, len(s.records)+1, len(after.records), what)
	for i, r := range s.records {
		require.True(t, same(r, after.records[i]), "%s: offset %d", what, r.Offset)
	}
	require.Equal(t, first, after.records[len(s.records)].Offset)
	require.NoError(t, l.Close())
	return lost
}

// TestBatchesOfAnotherSegment: whole batches of a later segment, written over some
// of an earlier one, hide none of the others, neither from a reader nor from a
// repair.
func TestBatchesOfAnotherSegment(t *testing.T) {
	for _, s := range []state{closed, killed, foreign} {
		b := build(t, large, s)
		all := files(t, b.copy(), b.dir())
		var logs []string
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if strings.HasSuffix(name, ".log") {
				logs = append(logs, name)
			}
		}
		for _, later := range logs[2:] {
			var from, to int // whole batches in the middle, of about 1 KiB
			for pos := 0; to == 0; {
				h, err := record.ParseHeader(all[later][pos:])
				require.NoError(t, err)
				if pos += h.Size; from == 0 && pos > 8000 {
					from = pos
				} else if from > 0 && pos > from+1000 {
					to = pos
				}
			}
			m := b.copy()
			f, err := m.OpenFile(filepath.Join(b.dir(), logs[1]), os.O_RDWR, 0)
			require.NoError(t, err)
			_, err = f.WriteAt(all[later][from:to], 12345)
			require.NoError(t, errors.Join(err, f.Close()))
			lost := afterHarm(t, b, m, string(s)+", "+later)
			require.Positive(t, lost)
			require.Less(t, lost, 60, "%s, %s", s, later) // about 8 batches of up to 4 records
		}
	}
}

// TestManagersFiles flips each bit of the files that a manager keeps beside its
// logs, of which none has a checksum, and of a partition's topic id: each log opens
// with all it had, takes an append, and opens again. Nobody notices another topic
// id, node or cluster, if it is one.
func TestManagersFiles(t *testing.T) {
	flipped := 0
	for _, v := range varieties[:2] {
		for _, s := range []state{closed, killed} {
			b := build(t, v, s)
			for _, dir := range []string{dataDir, b.dir()} {
				all := files(t, b.copy(), dir)
				for _, name := range slices.Sorted(maps.Keys(all)) {
					if dir == b.dir() && name != "partition.metadata" {
						continue
					}
					for bit := range len(all[name]) * 8 {
						if bit%max(1, *every/600) != 0 {
							continue
						}
						flipped++
						m := b.copy()
						flip(t, m, filepath.Join(dir, name), bit)
						what := fmt.Sprintf("%s, %s, bit %d of %s", v.name, s, bit, name)
						managed(t, b, m, what, &b.want)
					}
				}
			}
		}
	}
	require.Greater(t, flipped, 500)
}

func managed(t *testing.T, b *built, m *vfs.Mem, what string, want *content) {
	t.Helper()
	o := log.ManagerOptions{Log: b.options(m), Parallel: 1}
	man, err := log.OpenManager(ctx, dataDir, o)
	require.NoError(t, err, what)
	l, err := man.Log(b.name)
	require.NoError(t, err, what)
	require.Empty(t, look(l, slices.Collect(maps.Keys(want.at))).untrue(want), what)
	first, err := l.AppendSync(ctx, record.Record{Key: []byte("k"), Value: []byte("behind")})
	require.NoError(t, err, what)
	require.NoError(t, man.Close(), what)
	man, err = log.OpenManager(ctx, dataDir, o)
	require.NoError(t, err, what)
	l, err = man.Log(b.name)
	require.NoError(t, err, what)
	require.Equal(t, want.first, l.First(), what)
	require.Equal(t, first+1, l.End(), what)
	require.Empty(t, l.Recovery().Actions, what)
	require.NoError(t, man.Close())
}
