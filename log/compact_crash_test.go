package log_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// dirty is a log to be compacted, closed: segments that become smaller, some that
// lose everything, at the end of a group too, tombstones, and an aborted and a
// committed transaction. The clock stands still.
func dirty(t testing.TB) (*vfs.Mem, log.Options) {
	o, c := compactedLog(), newClock()
	c.option(&o)
	mem := vfs.NewMem()
	o.Env.FS = mem
	l, err := log.Open(ctx, "log", o)
	require.NoError(t, err)
	for i := range 6 {
		put(t, l, keyed("a", fmt.Sprint(i)), keyed(fmt.Sprint("b", i), strings.Repeat(".", 40*i)))
		put(t, l, keyed("c", strings.Repeat(".", 200)))
	}
	put(t, l, keyed("b0", ""), keyed("d", ""))
	transaction(t, l, 7, false, keyed("e", "aborted"))
	for range 12 {
		put(t, l, keyed("c", strings.Repeat(".", 200)))
	}
	transaction(t, l, 7, true, keyed("e", "committed"))
	transaction(t, l, 8, false, keyed("e", "aborted"))
	roll(t, l)
	put(t, l, keyed("b1", "last"))
	require.NoError(t, l.Close())
	o.SegmentBytes = 3 << 10 // three of them become one
	return mem.Kill(), o
}

// transaction appends one of one batch, and its marker.
func transaction(t testing.TB, l *log.Log, producer int64, commit bool, records ...record.Record) {
	t.Helper()
	sequence := int32(0)
	for _, p := range l.Producers() {
		if p.ID == producer {
			sequence = p.LastSequence + 1
		}
	}
	raw := encode(t, record.BatchOptions{LeaderEpoch: -1, Transactional: true, Producer: &record.Producer{ID: producer, Sequence: sequence}}, records...)
	_, err := l.AppendBatch(raw, log.FromClient)
	require.NoError(t, err)
	_, err = l.EndTransaction(log.EndTxn{ProducerID: producer, Epoch: 0, Commit: commit})
	require.NoError(t, err)
}

// on is the same options on that file system.
func on(o log.Options, fsys vfs.FS) log.Options {
	o.Env.FS = fsys
	return o
}

// TestPitfallF2CompactCrash: the machine is stopped before each call of a compaction
// that changes what is stored. What is there afterwards is the old content or
// the new, of each segment that is made as a whole, and the old one of all
// behind one that was not made yet. Only of the segments behind the end of the
// one being made any may be back as they were.
func TestPitfallF2CompactCrash(t *testing.T) {
	mem, o := dirty(t)
	l, err := log.Open(ctx, "log", on(o, mem))
	require.NoError(t, err)
	before, newest := withAll(t, l), newestOf(t, l)
	r := compacted(t, l)
	require.Greater(t, r.Segments.Before, r.Segments.After)
	after, made := withAll(t, l), bases(l)
	require.Less(t, len(after), len(before))
	oldParts, newParts := split(before, made), split(after, made)
	require.NoError(t, l.Close())

	stops := map[string]func(*vfs.Mem) *vfs.Mem{"kill": (*vfs.Mem).Kill}
	for seed := range uint64(8) {
		stops[fmt.Sprint("power", seed)] = func(m *vfs.Mem) *vfs.Mem { return m.Crash(seed) }
	}
	for name, stop := range stops {
		for n, done := 0, false; !done; n++ {
			mem, o := dirty(t)
			faulty := vfs.NewFaulty(mem)
			var stopped *vfs.Mem
			calls, last := 0, ""
			faulty.Trace = func(c vfs.Call) {
				if c.Op&vfs.ChangeOp == 0 || stopped != nil {
					return
				}
				if calls == n {
					stopped, last = stop(mem), fmt.Sprintf("%s %s", c.Op, filepath.Base(c.Name))
				}
				calls++
			}
			if l, err := log.Open(ctx, "log", on(o, faulty)); err == nil {
				_, _ = l.Compact(ctx)
			}
			if done = stopped == nil; done {
				stopped, last = stop(mem), "the end"
			}
			t.Run(fmt.Sprintf("%s/%d before %s", name, n, last), func(t *testing.T) {
				afterCrash(t, stopped, o, made, oldParts, newParts, newest)
			})
			if t.Failed() {
				return
			}
		}
	}
}

// afterCrash opens what a crash left, twice, and once more behind an append.
func afterCrash(t *testing.T, mem *vfs.Mem, o log.Options, made []int64, oldParts, newParts [][]string, newest map[string]string) {
	l, err := log.Open(ctx, "log", on(o, mem))
	require.NoError(t, err)
	got := withAll(t, l)
	for i, part := range split(got, made) {
		if slices.Equal(part, newParts[i]) {
			continue
		}
		if isBack(part, oldParts[i], newParts[i]) {
			part = oldParts[i]
		}
		require.Equal(t, oldParts[i], part, "%v", l.Recovery().LogValue())
		require.Equal(t, oldParts[i+1:], split(got, made)[i+1:], "%v", l.Recovery().LogValue())
		break
	}
	require.Equal(t, newest, newestOf(t, l))
	_, err = l.AppendSync(ctx, keyed("z", "new"))
	require.NoError(t, err)
	want := withAll(t, l)
	require.NoError(t, l.Close())
	l, err = log.Open(ctx, "log", on(o, mem))
	require.NoError(t, err)
	require.True(t, l.Recovery().Clean, "%v", l.Recovery().LogValue())
	require.Equal(t, want, withAll(t, l))
	compacted(t, l)
	require.NoError(t, l.Close())
	for _, name := range names(t, mem, "log") {
		for _, suffix := range []string{".cleaned", ".swap", ".deleted", ".tmp"} {
			require.False(t, strings.HasSuffix(name, suffix), name)
		}
	}
	v, err := log.Verify(ctx, "log", on(o, mem), nil)
	require.NoError(t, err)
	require.Empty(t, v.Faults)
	require.Empty(t, v.Notes)
}

// TestCompactEachCallFails: whatever call of a compaction fails, nothing is
// lost; the log goes on, or says that it has failed and is whole when it is
// opened again.
func TestCompactEachCallFails(t *testing.T) {
	_, o := dirty(t)
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
		for n := 0; ; n++ {
			mem, _ := dirty(t)
			faulty := vfs.NewFaulty(mem)
			l, err := log.Open(ctx, "log", on(o, faulty))
			require.NoError(t, err)
			want := newestOf(t, l)
			rule := faulty.Add(vfs.Rule{Op: vfs.AnyOp &^ (vfs.OpUnmap | vfs.OpClose), After: n, Count: 1, Err: cause})
			_, err = l.Compact(ctx)
			faulty.Clear()
			failed := rule.Failed() > 0
			if err == nil {
				require.Equal(t, want, newestOf(t, l), "call %d", n)
				_, err := l.Append(keyed("z", "new"))
				require.NoError(t, err)
				want["z"] = "new"
			}
			closeErr := l.Close()
			if err == nil {
				require.NoError(t, closeErr)
			}
			l, err = log.Open(ctx, "log", on(o, mem.Kill()))
			require.NoError(t, err, "call %d", n)
			require.Equal(t, want, newestOf(t, l), "call %d: %v", n, l.Recovery().LogValue())
			require.NoError(t, l.Close())
			if !failed {
				break
			}
		}
	}
}

// withAll is what a reader of committed records sees, each with its offset
// first.
func withAll(t testing.TB, l *log.Log) (list []record.Record) {
	t.Helper()
	for r, err := range l.Isolated(log.ReadCommitted).From(l.First()) {
		require.NoError(t, err)
		list = append(list, r)
	}
	return list
}

// isBack says that a part is the new one, and behind its end records of the old.
func isBack(part, old, fresh []string) bool {
	n := len(fresh)
	if len(part) <= n || !slices.Equal(part[:n], fresh) {
		return false
	}
	at := 0
	if n > 0 {
		at = slices.Index(old, fresh[n-1]) + 1
	}
	for _, r := range part[n:] {
		i := slices.Index(old[at:], r)
		if i < 0 {
			return false
		}
		at += i + 1
	}
	return true
}

func split(list []record.Record, made []int64) [][]string {
	parts := make([][]string, len(made))
	for _, r := range list {
		i, found := slices.BinarySearch(made, r.Offset)
		if !found {
			i--
		}
		parts[i] = append(parts[i], show(r))
	}
	return parts
}

func newestOf(t testing.TB, l *log.Log) map[string]string {
	newest := make(map[string]string)
	for _, r := range withAll(t, l) {
		newest[string(r.Key)] = string(r.Value)
	}
	return newest
}
