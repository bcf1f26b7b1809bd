package recovery_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// replacing builds the states that a replacement of segments passes through
// (FORMAT 25): the segments based at 0 and 6 by ones in new, in another
// program's log that has a third one, based at 12.
type replacing struct {
	old, fresh []map[string][]byte // files by name, of a segment each
	rest       map[string][]byte
	kept       []int64 // offsets after it
}

func segmentFiles(t *testing.T, base int64, offsets ...int64) map[string][]byte {
	var content []byte
	for _, o := range offsets {
		content = append(content, batch(t, o, 1)...)
	}
	return map[string][]byte{
		segment.Name(base, segment.LogSuffix):       content,
		segment.Name(base, segment.IndexSuffix):     nil,
		segment.Name(base, segment.TimeIndexSuffix): timeIndex(base, offsets[len(offsets)-1]),
	}
}

// timeIndex has the closing entry of a segment whose last record is the latest.
func timeIndex(base, offset int64) []byte {
	ms, rel := rec(offset).Time.UnixMilli(), offset-base
	b := make([]byte, 12)
	for i := range 8 {
		b[i] = byte(ms >> (56 - 8*i))
	}
	b[11] = byte(rel)
	return b
}

func merge(t *testing.T) replacing {
	return replacing{
		old:   []map[string][]byte{segmentFiles(t, 0, 0, 1, 2, 3, 4, 5), segmentFiles(t, 6, 6, 7, 8, 9, 10, 11)},
		fresh: []map[string][]byte{segmentFiles(t, 0, 2, 5, 9, 11)},
		rest:  segmentFiles(t, 12, 12, 13),
		kept:  []int64{2, 5, 9, 11, 12, 13},
	}
}

func split(t *testing.T) replacing {
	return replacing{
		old:   []map[string][]byte{segmentFiles(t, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)},
		fresh: []map[string][]byte{segmentFiles(t, 0, 0, 1, 2, 3, 4), segmentFiles(t, 5, 5, 6, 7, 8, 9, 10, 11)},
		rest:  segmentFiles(t, 12, 12, 13),
		kept:  span(0, 14),
	}
}

var order = []string{segment.LogSuffix, segment.IndexSuffix, segment.TimeIndexSuffix}

// states lists every state on the way, and whether the new segments count in it.
func (p replacing) states() (list []map[string][]byte, done []bool) {
	files := map[string][]byte{}
	add := func(d bool) {
		state := map[string][]byte{}
		for name, b := range files {
			state[name] = b
		}
		list, done = append(list, state), append(done, d)
	}
	for _, s := range append(p.old, p.rest) {
		for name, b := range s {
			files[name] = b
		}
	}
	rename := func(s map[string][]byte, from, to string, d bool) {
		for _, suffix := range order {
			for name := range s {
				if strings.HasSuffix(name, suffix) {
					files[name+to] = files[name+from]
					delete(files, name+from)
					add(d)
				}
			}
		}
	}
	add(false)
	for _, s := range p.fresh { // written
		for _, suffix := range order {
			for name, b := range s {
				if strings.HasSuffix(name, suffix) {
					files[name+segment.CleanedSuffix] = b[:len(b)/2]
					add(false)
					files[name+segment.CleanedSuffix] = b
					add(false)
				}
			}
		}
	}
	for i := len(p.fresh) - 1; i >= 0; i-- {
		rename(p.fresh[i], segment.CleanedSuffix, segment.SwapSuffix, false)
	}
	done[len(done)-1] = true // the last of them was renamed
	for _, s := range p.old {
		rename(s, "", segment.DeletedSuffix, true)
	}
	for _, s := range p.fresh {
		rename(s, segment.SwapSuffix, "", true)
	}
	for name := range files {
		if strings.HasSuffix(name, segment.DeletedSuffix) {
			delete(files, name)
			add(true)
		}
	}
	return list, done
}

func disk(t testing.TB, files map[string][]byte) *vfs.Mem {
	t.Helper()
	m := vfs.NewMem()
	require.NoError(t, vfs.MkdirAll(m, dir, 0o755))
	for name, b := range files {
		put(t, m, name, b)
	}
	return m
}

// TestHalfDoneReplacement: stopped in any state, the segments are the old ones
// as long as not all new ones are complete, and then the new ones; and stopped
// anywhere in bringing that about, the next open does.
func TestHalfDoneReplacement(t *testing.T) {
	// Relies on A5 (docs/ASSUMPTIONS.md).
	for name, p := range map[string]replacing{"merge": merge(t), "split": split(t)} {
		states, done := p.states()
		require.Greater(t, len(states), 20)
		for i, state := range states {
			want := span(0, 14)
			if done[i] {
				want = p.kept
			}
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				m := disk(t, state)
				before := files(t, m)
				l, err := log.Open(t.Context(), dir, reading(options(m)))
				require.NoError(t, err)
				got, damage := readable(t, l)
				require.Empty(t, damage)
				require.Equal(t, want, got)
				require.NoError(t, l.Close())
				v, err := log.Verify(t.Context(), dir, reading(options(m)), nil)
				require.NoError(t, err)
				require.Empty(t, v.Faults)
				require.Equal(t, before, files(t, m))
				m = recovers(t, m, options(m), want)
				for _, pattern := range []string{"*.cleaned", "*.swap", "*.deleted"} {
					require.Empty(t, namesLike(t, m, pattern))
				}
			})
			if i%3 == 0 {
				atEach(t, 3, func() *vfs.Mem { return disk(t, state) }, func(fsys vfs.FS) {
					_, _ = log.Open(t.Context(), dir, options(fsys))
				}, func(t *testing.T, m *vfs.Mem, _ ending) { recovers(t, m, options(m), want) })
			}
		}
	}
}

// A replacement that is damaged replaces nothing while the original is there.
// Without the original it is what there is: damage as any other.
func TestDamagedReplacement(t *testing.T) {
	p := merge(t)
	states, done := p.states()
	for i, state := range states {
		swap := segment.Name(0, segment.LogSuffix) + segment.SwapSuffix
		if state[swap] == nil || !done[i] {
			continue
		}
		b := append([]byte(nil), state[swap]...)
		all := batches(t, b)
		b[all[1].to-1] ^= 1 // offset 5
		state[swap] = b
		_, original := state[logName(0)]
		deleted := 0
		for name := range state {
			if strings.HasSuffix(name, segment.DeletedSuffix) {
				deleted++
			}
		}
		m := disk(t, state)
		if original && deleted == 0 {
			recovers(t, m, options(m), span(0, 14))
			continue
		}
		_, err := log.Open(t.Context(), dir, options(m))
		require.ErrorIs(t, err, record.ErrCorrupt, "%v", state)
		recovers(t, m, repairing(options(m)), []int64{2, 9, 11, 12, 13})
	}
}

// Orphans of a removed log go; what is not ours to know stays.
func TestLeftovers(t *testing.T) {
	m, infos := closed(t, 20)
	end := infos[len(infos)-1].Next
	stay := []string{"partition.metadata", "partition.metadata.tmp", "quorum-state",
		"00000000000000000000-0000000003.checkpoint", "00000000000000000000-0000000003.checkpoint.deleted",
		segment.Name(end, segment.SnapshotSuffix), "readme", "seglog.torn-00000000000000000001"}
	for _, name := range stay {
		put(t, m, name, []byte(name))
	}
	for _, name := range []string{segment.Name(99, segment.IndexSuffix), segment.Name(99, segment.TimeIndexSuffix),
		segment.Name(99, segment.TxnIndexSuffix), segment.Name(3, segment.LogSuffix) + ".deleted",
		segment.Name(3, segment.SnapshotSuffix) + ".deleted", "seglog.checkpoint.tmp", "seglog.torn-00000000000000000009.tmp",
		segment.Name(0, segment.IndexSuffix) + ".tmp"} {
		put(t, m, name, nil) // D3: nothing was written to them yet
	}
	m = recovers(t, m, options(m), span(0, end))
	for _, name := range stay {
		require.Equal(t, name, string(content(t, m, name)))
	}
	require.Empty(t, namesLike(t, m, "*9.*index"))
	require.Empty(t, namesLike(t, m, "*.tmp[^.]"))
	require.Len(t, namesLike(t, m, "*.tmp"), 1)
	require.Empty(t, namesLike(t, m, "*.log.deleted"))
	require.Empty(t, namesLike(t, m, "*.snapshot.deleted"))
}
