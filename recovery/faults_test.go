package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

// tornLog is a log of several segments whose newest ends torn.
func tornLog(t testing.TB) (*vfs.Mem, int64) {
	m, infos := rebooted(t, 20)
	last := infos[len(infos)-1]
	whole := content(t, m, logName(last.Base))[:last.Bytes]
	put(t, m, logName(last.Base), append(whole, batch(t, last.Next, 2)[:70]...))
	return m, last.Next
}

// TestPitfallD1NoRoom: recovery needs no free space. With nothing left on the
// disk a log with a torn tail opens and is read; appends are refused whole; with
// room again they work.
func TestPitfallD1NoRoom(t *testing.T) {
	for name, full := range map[string]func(m *vfs.Mem) (vfs.FS, func()){
		"limit": func(m *vfs.Mem) (vfs.FS, func()) {
			m.SetLimit(m.Used())
			return m, func() { m.SetLimit(0) }
		},
		"every create and extend fails": func(m *vfs.Mem) (vfs.FS, func()) {
			f := vfs.NewFaulty(m)
			f.Add(vfs.Rule{Op: vfs.OpAllocate | vfs.OpWriteAt, Err: syscall.ENOSPC})
			f.Add(vfs.Rule{Op: vfs.OpCreate, Path: "*.tmp", Err: syscall.ENOSPC})
			f.Add(vfs.Rule{Op: vfs.OpMkdir | vfs.OpSyncDir}) // counted only
			return f, f.Clear
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, end := tornLog(t)
			fsys, room := full(m)
			l := mustOpen(t, options(fsys))
			require.Equal(t, end, l.End())
			lookups(t, l)
			for err := error(nil); !errors.Is(err, syscall.ENOSPC); end = l.End() { // what was cut may have made room for one
				_, err = l.Append(rec(l.End()))
			}
			lookups(t, l)
			room()
			_, err := l.AppendSync(t.Context(), rec(end))
			require.NoError(t, err)
			fill(t, l, 20) // rolls, with indexes that had no room
			end = l.End()
			lookups(t, l)
			require.NoError(t, l.Close())
			recovers(t, m, options(m), span(0, end))
		})
	}
}

// TestPitfallD1NoRoomClose: a log that opened without room closes without, and
// nothing is lost.
func TestPitfallD1NoRoomClose(t *testing.T) {
	m, end := tornLog(t)
	m.SetLimit(m.Used())
	l := mustOpen(t, options(m))
	_ = l.Close() // its checkpoint may have no room
	m.SetLimit(0)
	recovers(t, m, options(m), span(0, end))
}

// TestPitfallH5NoDescriptors: while there are no descriptors Open fails, with
// that error, whatever it was that it could not open, and changes nothing that
// counts; then it works.
func TestPitfallH5NoDescriptors(t *testing.T) {
	for name, made := range map[string]func() (*vfs.Mem, []int64){
		"torn": func() (*vfs.Mem, []int64) {
			m, end := tornLog(t)
			return m, span(0, end)
		},
		"trimmed and closed": func() (*vfs.Mem, []int64) {
			m, infos := closed(t, 20)
			l := mustOpen(t, options(m))
			require.NoError(t, l.DropBefore(13))
			require.NoError(t, l.Close())
			return m, span(13, infos[len(infos)-1].Next)
		},
		"foreign": func() (*vfs.Mem, []int64) {
			m, infos := foreign(t, 20)
			return m, span(0, infos[len(infos)-1].Next)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for n := 0; ; n++ {
				m, want := made()
				f := vfs.NewFaulty(m)
				rule := f.Add(vfs.Rule{Op: vfs.OpOpen | vfs.OpCreate | vfs.OpReadDir | vfs.OpLock | vfs.OpMap, After: n, Err: syscall.EMFILE})
				_, err := log.Open(t.Context(), dir, options(f))
				if rule.Failed() == 0 {
					require.NoError(t, err)
					break
				}
				if err != nil {
					require.ErrorIs(t, err, syscall.EMFILE, "after %d", n)
				}
				f.Clear()
				m = m.Kill()
				l := mustOpen(t, reading(options(m)))
				require.Equal(t, want[0], l.First(), "after %d", n)
				require.NoError(t, l.Close())
				recovers(t, m, options(m), want)
			}
		})
	}
}

// TestPitfallF9EveryCall: any one call that fails once makes an Open that fails
// or works, and the next one works; in the same process, so nothing is left
// locked.
func TestPitfallF9EveryCall(t *testing.T) {
	for name, made := range map[string]func() (*vfs.Mem, log.Options, []int64){
		"torn": func() (*vfs.Mem, log.Options, []int64) {
			m, end := tornLog(t)
			return m, options(m), span(0, end)
		},
		"trimmed": func() (*vfs.Mem, log.Options, []int64) {
			m, infos := closed(t, 20)
			l := mustOpen(t, options(m))
			require.NoError(t, l.DropBefore(13))
			require.NoError(t, l.Close())
			return m, options(m), span(13, infos[len(infos)-1].Next)
		},
		"half-done replacement": func() (*vfs.Mem, log.Options, []int64) {
			states, done := merge(t).states()
			for i := range states {
				if done[i] {
					m := disk(t, states[i])
					return m, options(m), merge(t).kept
				}
			}
			panic("no such state")
		},
		"damaged": func() (*vfs.Mem, log.Options, []int64) {
			m, infos := foreign(t, 20)
			_, lost := flip(1, 1)(t, m, infos)
			return m, repairing(options(m)), without(span(0, infos[len(infos)-1].Next), lost[0], lost[1])
		},
		"tear in an older segment": func() (*vfs.Mem, log.Options, []int64) {
			m, infos := rebooted(t, 30)
			tear, _ := flip(1, 1)(t, m, infos)
			return m, options(m), span(0, tear)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, ops := range []vfs.Op{vfs.OpSync | vfs.OpSyncDir, vfs.AnyOp &^ (vfs.OpUnmap | vfs.OpClose)} {
				for n := 0; ; n++ {
					m, o, want := made()
					f := vfs.NewFaulty(m)
					rule := f.Add(vfs.Rule{Op: ops, After: n, Count: 1, Err: syscall.EIO})
					o.Env.FS = f
					l, err := log.Open(t.Context(), dir, o)
					if rule.Failed() == 0 {
						require.NoError(t, err)
						break
					}
					if err == nil {
						_ = l.Close()
					}
					f.Clear()
					again, err := log.Open(t.Context(), dir, o)
					require.NoError(t, err, "after %d", n)
					got, damage := readable(t, again)
					require.Empty(t, damage)
					require.Equal(t, want, got)
					require.NoError(t, again.Close())
					if n%4 == 0 {
						recovers(t, m, o, want)
					}
				}
			}
		})
	}
}

// TestPitfallD8Leftovers: rolls that fail, a hundred times, leave no pile of
// files.
func TestPitfallD8Leftovers(t *testing.T) {
	m, _ := closed(t, 7)
	f := vfs.NewFaulty(m)
	l := mustOpen(t, options(f))
	before := len(names(t, m))
	f.Add(vfs.Rule{Op: vfs.OpAllocate, Err: syscall.ENOSPC})
	for range 100 {
		for {
			if _, err := l.Append(rec(l.End())); err != nil {
				require.ErrorIs(t, err, syscall.ENOSPC)
				break
			}
		}
	}
	require.LessOrEqual(t, len(names(t, m)), before+1)
	f.Clear()
	fill(t, l, 10)
	end := l.End()
	require.NoError(t, l.Close())
	recovers(t, m, options(m), span(0, end))
}

// An undeletable file of no use does not keep a log from opening, and goes at a
// later open.
func TestUndeletable(t *testing.T) {
	m, infos := closed(t, 20)
	end := infos[len(infos)-1].Next
	put(t, m, segment.Name(3, segment.LogSuffix)+".deleted", []byte("x"))
	f := vfs.NewFaulty(m)
	f.Add(vfs.Rule{Op: vfs.OpRemove, Path: "*.deleted", Err: syscall.EACCES})
	l := mustOpen(t, options(f))
	require.NoError(t, l.Close())
	require.Len(t, namesLike(t, m, "*.deleted"), 1)
	m = recovers(t, m, options(m), span(0, end))
	require.Empty(t, namesLike(t, m, "*.deleted"))
}

// A done context stops the look, and nothing has changed then.
func TestPitfallW6Cancelled(t *testing.T) {
	m, end := tornLog(t)
	before := files(t, m)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err := log.Open(ctx, dir, options(m))
	require.ErrorIs(t, err, cause)
	require.Equal(t, before, files(t, m))
	recovers(t, m, options(m), span(0, end))
}

// TestPitfallS1CleanOpen: after a clean close, opening reads the checkpoint and
// nothing else, however much there is.
func TestPitfallS1CleanOpen(t *testing.T) {
	var reads []int
	for _, n := range []int{10, 200} {
		m, infos := closed(t, n)
		f := vfs.NewFaulty(m)
		l := mustOpen(t, options(f))
		require.True(t, l.Recovery().Clean)
		require.Zero(t, l.Recovery().ScannedBytes)
		reads = append(reads, f.Calls(vfs.OpReadAt|vfs.OpMap|vfs.OpOpen))
		require.LessOrEqual(t, f.Calls(vfs.OpStat), 4*len(infos)+8)
		require.NoError(t, l.Close())
	}
	require.Equal(t, reads[0], reads[1])
}

// An action says what it does in words: the error and the log line name file,
// position and kind (T7).
func TestPitfallT7SaysWhat(t *testing.T) {
	m, end := tornLog(t)
	r := inspect(t, m, recovery.Options{})
	last := r.Segments[len(r.Segments)-1]
	require.Equal(t, fmt.Sprintf("cut %020d.log from position %d (70 bytes) to seglog.torn-%020d: torn tail: record: corrupt: the batch ends behind the file",
		last.Base, last.Size, end), r.Actions[len(r.Actions)-1].String())
	require.Contains(t, r.LogValue().String(), "cut ")

	m, infos := foreign(t, 20)
	_, lost := flip(1, 1)(t, m, infos)
	_, err := log.Open(t.Context(), dir, options(m))
	require.Regexp(t, fmt.Sprintf(`^damaged at position \d+ of %s/%020d.log \(offset %d; readable again from offset %d\): record: corrupt: CRC .*; open with log.Repair to cut it out$`,
		dir, infos[1].Base, lost[0], lost[1]), err.Error())
}

// A roll that failed may leave an empty log whose base, in the meantime, is
// among the offsets of the segment before: no record is hidden by it.
func TestPitfallD8EmptyLogOfAFailedRoll(t *testing.T) {
	for _, at := range []int64{-5, -1, 0} { // relative to the end
		m := vfs.NewMem()
		l := mustOpen(t, options(m))
		fill(t, l, 30)
		want := span(0, l.End())
		stray := filepath.Join(dir, segment.Name(l.End()+at, segment.LogSuffix))
		m = m.Kill()
		require.NoError(t, vfs.WriteFile(m, stray, nil))
		recovers(t, m, options(m), want)
	}
}

// Repair believes no checkpoint: damage that a clean close vouches for is found
// and cut out.
func TestRepairLooksAtAll(t *testing.T) {
	m := vfs.NewMem()
	l := mustOpen(t, options(m))
	fill(t, l, 30)
	end := l.End()
	require.NoError(t, l.Close())
	l = mustOpen(t, options(m))
	bad, err := l.Explain(7)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	f, err := m.OpenFile(bad.Path, os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte{0xff}, bad.Lookup.Position+int64(bad.Batch.Size)-1)
	require.NoError(t, err)

	l = mustOpen(t, options(m))
	require.True(t, l.Recovery().Clean, "a clean open does not look at data")
	require.NoError(t, l.Close())
	l = mustOpen(t, repairing(options(m)))
	require.Len(t, l.Recovery().Damage, 1)
	require.NoError(t, l.Close())
	recovers(t, m, options(m), without(span(0, end), bad.Batch.BaseOffset, bad.Batch.NextOffset()))
}
