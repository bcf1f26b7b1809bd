package recovery_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// An ending is how a process stops: killed, with all it stored still there, or
// with the power cut, when a seeded choice of what was not synced is.
type ending struct {
	name string
	stop func(*vfs.Mem) *vfs.Mem
	kill bool
}

func endings(powerCuts int) []ending {
	list := []ending{{"kill", (*vfs.Mem).Kill, true}}
	for seed := range powerCuts {
		list = append(list, ending{fmt.Sprintf("power/%d", seed), func(m *vfs.Mem) *vfs.Mem { return m.Crash(uint64(seed)) }, false})
	}
	return list
}

// atEach runs op again and again, each time on what setup makes, and stops the
// machine just before the next of the calls that change what is stored; after
// the last of them, too. check is given what a restarted machine finds.
func atEach(t *testing.T, powerCuts int, setup func() *vfs.Mem, op func(fsys vfs.FS), check func(t *testing.T, m *vfs.Mem, e ending)) {
	t.Helper()
	for _, e := range endings(powerCuts) {
		for n := 0; ; n++ {
			m := setup()
			faulty := vfs.NewFaulty(m)
			var after *vfs.Mem
			calls, last := 0, ""
			faulty.Trace = func(c vfs.Call) {
				if c.Op&vfs.ChangeOp == 0 || after != nil {
					return
				}
				if calls == n {
					after, last = e.stop(m), fmt.Sprintf("before %s %s", c.Op, filepath.Base(c.Name))
				}
				calls++
			}
			op(faulty)
			done := after == nil
			if done {
				after, last = e.stop(m), "at the end"
			}
			ok := t.Run(fmt.Sprintf("%s/%d %s", e.name, n, last), func(t *testing.T) { check(t, after, e) })
			if !ok {
				return // one is enough to look at
			}
			if done {
				break
			}
		}
	}
}

// oneOf wants the log to be one of these, and everything that recovers wants.
func oneOf(t *testing.T, m *vfs.Mem, firstEnd ...[2]int64) {
	t.Helper()
	if _, err := m.Stat(dir); err != nil { // not even made
		require.Contains(t, firstEnd, [2]int64{0, 0})
		recovers(t, m, options(m), nil)
		return
	}
	l := mustOpen(t, reading(options(copyOf(t, m))))
	first, end := l.First(), l.End()
	require.NoError(t, l.Close())
	require.Contains(t, firstEnd, [2]int64{first, end})
	recovers(t, m, options(m), span(first, end))
}

// synced is a log of n batches, all durable, open before and killed.
func synced(t testing.TB, n int) *vfs.Mem {
	m := vfs.NewMem()
	l := mustOpen(t, options(m))
	fill(t, l, n)
	require.NoError(t, l.Sync(t.Context()))
	return m.Crash(1)
}

// TestPitfallA5FirstOpen: stopped anywhere in making a log, the next open makes
// it.
func TestPitfallA5FirstOpen(t *testing.T) {
	atEach(t, 6, vfs.NewMem, func(fsys vfs.FS) {
		if l, err := log.Open(t.Context(), dir, options(fsys)); err == nil {
			_ = l.Close()
		}
	}, func(t *testing.T, m *vfs.Mem, _ ending) {
		recovers(t, m, options(m), nil)
	})
}

// TestCrashFirstAppend: stopped anywhere in the first append to a new log and
// its sync.
func TestCrashFirstAppend(t *testing.T) {
	var acknowledged int64
	atEach(t, 6, vfs.NewMem, func(fsys vfs.FS) {
		acknowledged = 0
		l, err := log.Open(t.Context(), dir, options(fsys))
		if err != nil {
			return
		}
		if _, err := l.AppendSync(t.Context(), rec(0), rec(1)); err == nil {
			acknowledged = 2
		}
	}, func(t *testing.T, m *vfs.Mem, _ ending) {
		if acknowledged == 0 {
			oneOf(t, m, [2]int64{0, 0}, [2]int64{0, 2})
		} else {
			oneOf(t, m, [2]int64{0, 2})
		}
	})
}

// TestPitfallM12DropFrom: stopped anywhere in DropFrom, the log ends where it
// did or where it was to.
func TestPitfallM12DropFrom(t *testing.T) {
	const n = 30
	m := synced(t, n)
	l := mustOpen(t, options(m))
	end, infos := l.End(), l.Segments()
	require.Greater(t, len(infos), 4)
	for name, c := range map[string]struct{ first, from int64 }{
		"everything":                    {0, 0},
		"the newest batch":              {0, end - 1},
		"inside the newest":             {0, infos[len(infos)-1].Base + 2},
		"all of the newest":             {0, infos[len(infos)-1].Base},
		"inside an older one":           {0, infos[1].Base + 1},
		"the beginning of an older one": {0, infos[2].Base},
		"all behind a raised start":     {infos[1].Base + 1, infos[1].Base + 1},
		"inside a raised start's batch": {infos[2].Base + 2, infos[2].Base + 3},
	} {
		t.Run(name, func(t *testing.T) {
			setup := func() *vfs.Mem {
				m := synced(t, n)
				if c.first > 0 {
					l := mustOpen(t, options(m))
					require.NoError(t, l.DropBefore(c.first))
					require.NoError(t, l.Close())
					m = m.Kill()
				}
				return m
			}
			m := setup()
			l := mustOpen(t, options(m))
			require.NoError(t, l.DropFrom(c.from))
			newEnd := l.End()
			require.LessOrEqual(t, newEnd, c.from)
			require.NoError(t, l.Close())

			atEach(t, 4, setup, func(fsys vfs.FS) {
				if l, err := log.Open(t.Context(), dir, options(fsys)); err == nil {
					_ = l.DropFrom(c.from)
				}
			}, func(t *testing.T, m *vfs.Mem, _ ending) {
				oneOf(t, m, [2]int64{c.first, end}, [2]int64{c.first, newEnd})
			})
		})
	}
}

// TestCrashBetweenDropFromAndAppend: what is appended after a cut that a crash
// interrupted stays.
func TestCrashAppendAfterDropFrom(t *testing.T) {
	const from = 11
	var acknowledged int64
	atEach(t, 4, func() *vfs.Mem { return synced(t, 20) }, func(fsys vfs.FS) {
		acknowledged = 0
		l, err := log.Open(t.Context(), dir, options(fsys))
		if err != nil || l.DropFrom(from) != nil {
			return
		}
		first := l.End()
		if at, err := l.AppendSync(t.Context(), rec(first), rec(first+1), rec(first+2)); err == nil {
			acknowledged = at + 3
		}
	}, func(t *testing.T, m *vfs.Mem, _ ending) {
		l := mustOpen(t, options(m))
		if acknowledged > 0 {
			require.Equal(t, acknowledged, l.End())
		}
		end := l.End()
		require.NoError(t, l.Close())
		recovers(t, m, options(m), span(0, end))
	})
}

// TestCrashDropBefore: stopped anywhere in DropBefore, the log begins where it
// did or where it was to, and what of its files is below is gone after the next
// open.
func TestCrashDropBefore(t *testing.T) {
	m := synced(t, 30)
	l := mustOpen(t, options(m))
	end, infos := l.End(), l.Segments()
	for _, before := range []int64{infos[1].Base, infos[2].Base + 1, infos[len(infos)-1].Base, end} {
		t.Run(fmt.Sprint(before), func(t *testing.T) {
			atEach(t, 4, func() *vfs.Mem { return synced(t, 30) }, func(fsys vfs.FS) {
				if l, err := log.Open(t.Context(), dir, options(fsys)); err == nil {
					_ = l.DropBefore(before)
				}
			}, func(t *testing.T, m *vfs.Mem, _ ending) {
				oneOf(t, m, [2]int64{0, end}, [2]int64{before, end})
			})
		})
	}
}

// TestCrashDropBeforeUnsynced: records are dropped that were never durable, and
// the power is cut: the log goes on where it had promised to begin.
func TestCrashDropBeforeUnsynced(t *testing.T) {
	for seed := range 40 {
		m := vfs.NewMem()
		l := mustOpen(t, options(m))
		fill(t, l, 3+seed%5)
		first := l.End() / 2
		require.NoError(t, l.DropBefore(first))
		end := l.End()
		m = m.Crash(uint64(seed))
		l = mustOpen(t, options(m))
		require.Equal(t, first, l.First(), "%v", l.Recovery().LogValue())
		require.LessOrEqual(t, l.End(), end)
		end = l.End()
		require.NoError(t, l.Close())
		recovers(t, m, options(m), span(first, end))
	}
}

// grown opens a log of 7 batches, appends 12 more, which is a few rolls, and
// syncs in between.
func grown(t *testing.T, fsys vfs.FS, syncAt int, acknowledged, appended *int64) *log.Log {
	*acknowledged, *appended = 0, 0
	l, err := log.Open(t.Context(), dir, options(fsys))
	if err != nil {
		return nil
	}
	*acknowledged, *appended = l.End(), l.End()
	for i := range 12 {
		r := []record.Record{rec(l.End()), rec(l.End() + 1)}
		if _, err := l.Append(r...); err != nil {
			return nil
		}
		*appended = l.End()
		if i == syncAt {
			if l.Sync(t.Context()) != nil {
				return nil
			}
			*acknowledged = *appended
		}
	}
	return l
}

// TestCrashRoll: stopped anywhere in appends that roll and a sync, what was
// acknowledged is there, and then a prefix of what followed.
func TestCrashRoll(t *testing.T) {
	for _, syncAt := range []int{-1, 2, 5, 11} {
		var acknowledged, appended int64
		atEach(t, 5, func() *vfs.Mem { return synced(t, 7) }, func(fsys vfs.FS) {
			grown(t, fsys, syncAt, &acknowledged, &appended)
		}, func(t *testing.T, m *vfs.Mem, e ending) { prefix(t, m, e, max(acknowledged, 13), max(appended, 13)) })
	}
}

// TestCrashClose: the same, up to and in Close.
func TestCrashClose(t *testing.T) {
	var acknowledged, appended int64
	atEach(t, 5, func() *vfs.Mem { return synced(t, 7) }, func(fsys vfs.FS) {
		if l := grown(t, fsys, 3, &acknowledged, &appended); l != nil && l.Close() == nil {
			acknowledged = appended
		}
	}, func(t *testing.T, m *vfs.Mem, e ending) { prefix(t, m, e, max(acknowledged, 13), max(appended, 13)) })
}

// prefix wants at least the acknowledged records, at most the appended ones (or
// the batch that was being appended), and of a killed process all of them.
func prefix(t *testing.T, m *vfs.Mem, e ending, acknowledged, appended int64) {
	t.Helper()
	l := mustOpen(t, options(m))
	end := l.End()
	require.GreaterOrEqual(t, end, acknowledged, "%v", l.Recovery().LogValue())
	require.LessOrEqual(t, end, appended+2)
	if e.kill {
		require.GreaterOrEqual(t, end, appended)
	}
	got, damage := readable(t, l)
	require.Empty(t, damage)
	require.Equal(t, span(0, end), got)
	require.NoError(t, l.Close())
	recovers(t, m, options(m), span(0, end))
}

// TestCrashInRecovery: stopped anywhere in recovering from a crash, the next
// open comes to the same end.
func TestCrashInRecovery(t *testing.T) {
	for seed := range uint64(12) {
		before := vfs.NewMem()
		l := mustOpen(t, options(before))
		fill(t, l, 8)
		require.NoError(t, l.Sync(t.Context()))
		fill(t, l, 20)
		before = before.Crash(seed)
		l = mustOpen(t, reading(options(before)))
		end := l.End()
		require.NoError(t, l.Close())
		atEach(t, 2, func() *vfs.Mem { return copyOf(t, before) }, func(fsys vfs.FS) {
			_, _ = log.Open(t.Context(), dir, options(fsys))
		}, func(t *testing.T, m *vfs.Mem, _ ending) {
			recovers(t, m, options(m), span(0, end))
		})
	}
}

// TestCrashInRepair: the same for an open that cuts damage out.
func TestCrashInRepair(t *testing.T) {
	before, infos := foreign(t, 30)
	base := infos[1].Base
	b := content(t, before, logName(base))
	all := batches(t, b)
	b[all[0].to-1] ^= 1
	b[all[2].to-1] ^= 1
	put(t, before, logName(base), b)
	want := without(without(span(0, infos[len(infos)-1].Next), all[0].base, all[0].end), all[2].base, all[2].end)
	atEach(t, 2, func() *vfs.Mem { return copyOf(t, before) }, func(fsys vfs.FS) {
		_, _ = log.Open(t.Context(), dir, repairing(options(fsys)))
	}, func(t *testing.T, m *vfs.Mem, _ ending) {
		recovers(t, m, repairing(options(m)), want)
	})
}
