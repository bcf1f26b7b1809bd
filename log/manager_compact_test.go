package log_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention/compact"
)

// compactedOnMem are a manager's options for logs that are compacted.
func compactedOnMem(m vfs.FS) log.ManagerOptions {
	return log.ManagerOptions{Log: on(compactedLog(), m)}
}

// putKeys appends n records of three keys.
func putKeys(t testing.TB, l *log.Log, n int) {
	t.Helper()
	for i := range n {
		_, err := l.Append(record.Record{Key: fmt.Append(nil, i%3), Value: []byte(value(i))})
		require.NoError(t, err)
	}
}

// TestManagerCompact: where compaction has come to is in the broker's file, and
// the next one begins there, also of a manager opened later; a partition of the
// same name begins anew.
func TestManagerCompact(t *testing.T) {
	mem := vfs.NewMem()
	m := manage(t, "data", compactedOnMem(mem))
	l, err := m.Create(ctx, "c-0", log.TopicID{1})
	require.NoError(t, err)
	putKeys(t, l, 20)
	result, err := m.Compact(ctx, "c-0")
	require.NoError(t, err)
	require.Positive(t, result.Dropped)
	first := result.FirstDirty
	require.Positive(t, first)
	require.Equal(t, fmt.Sprintf("0\n1\nc 0 %d\n", first), text(t, mem, "data/cleaner-offset-checkpoint"))
	require.NoError(t, m.Close())

	m = manage(t, "data", compactedOnMem(mem))
	result, err = m.Compact(ctx, "c-0")
	require.NoError(t, err)
	require.Equal(t, first, result.Plan.FirstDirty)
	putKeys(t, logOf(t, m, "c-0"), 20)
	result, err = m.Compact(ctx, "c-0")
	require.NoError(t, err)
	require.Greater(t, result.FirstDirty, first)

	require.NoError(t, m.Delete("c-0"))
	_, err = m.Compact(ctx, "c-0")
	require.ErrorIs(t, err, log.ErrNoPartition)
	create(t, m, "c-0", 0)
	require.Equal(t, "0\n0\n", text(t, mem, "data/cleaner-offset-checkpoint"))
}

// TestManagerCompactAfterCut: what was appended behind a cut is dirty, whatever
// the broker's file said before, and the file says so from the next checkpoint
// on.
func TestManagerCompactAfterCut(t *testing.T) {
	for _, closed := range []bool{true, false} {
		mem := vfs.NewMem()
		m := manage(t, "data", compactedOnMem(mem))
		l, err := m.Create(ctx, "c-0", log.TopicID{1})
		require.NoError(t, err)
		putKeys(t, l, 40)
		result, err := m.Compact(ctx, "c-0")
		require.NoError(t, err)
		require.NoError(t, l.DropFrom(7))
		cut := l.End()
		putKeys(t, l, 40)
		require.NoError(t, l.Sync(ctx))
		if closed {
			require.NoError(t, m.Close())
		} else {
			mem = mem.Crash(1)
			write(t, mem, "data/cleaner-offset-checkpoint", fmt.Sprintf("0\n1\nc 0 %d\n", result.FirstDirty)) // too high: a cut lowers it
		}
		m = manage(t, "data", compactedOnMem(mem))
		again, err := m.Compact(ctx, "c-0")
		require.NoError(t, err)
		require.LessOrEqual(t, again.Plan.FirstDirty, cut)
		require.NoError(t, m.Close())
	}
}

// TestManagerBelievesTheCleanersFile: of a log that a broker wrote its file says
// where the dirty part begins; of one of ours it can only say that it begins
// earlier.
func TestManagerBelievesTheCleanersFile(t *testing.T) {
	mem := vfs.NewMem()
	m := manage(t, "data", compactedOnMem(mem))
	for _, name := range []string{"theirs-0", "theirs-1", "ours-0", "ours-1"} {
		l, err := m.Create(ctx, name, log.TopicID{1})
		require.NoError(t, err)
		putKeys(t, l, 40)
		if strings.HasPrefix(name, "ours") {
			_, err := m.Compact(ctx, name)
			require.NoError(t, err)
		}
	}
	require.NoError(t, m.Close())
	for _, name := range []string{"theirs-0", "theirs-1"} {
		require.NoError(t, mem.Remove(filepath.Join("data", name, "seglog.checkpoint")))
	}
	write(t, mem, "data/cleaner-offset-checkpoint", "0\n4\ntheirs 0 10\ntheirs 1 41\nours 0 10\nours 1 39\n")
	m = manage(t, "data", compactedOnMem(mem))
	for name, want := range map[string]int64{"theirs-0": 10, "theirs-1": 0, "ours-0": 10, "ours-1": 35} {
		plan, err := logOf(t, m, name).Dirty()
		require.NoError(t, err)
		require.Equal(t, want, plan.FirstDirty, name)
	}
}

// TestManagerMaintainCompacts the logs that are due, the dirtiest first; one
// that fails hinders no other, and is tried again.
func TestManagerMaintainCompacts(t *testing.T) {
	faulty := vfs.NewFaulty(vfs.NewMem())
	o := compactedOnMem(faulty)
	o.Log.Compaction.MinDirtyRatio = 0.5
	var mu sync.Mutex
	var order []string
	failed := 0
	o.Each = func(name string, o log.Options) log.Options {
		switch name {
		case "plain-0":
			o.Compaction = nil
		case "half-0": // one like the others, and too clean for its own settings
			c := *o.Compaction
			c.MinDirtyRatio = 1
			o.Compaction = &c
		}
		o.Trace.Compacted = func(e log.CompactEvent) {
			mu.Lock()
			defer mu.Unlock()
			if e.Err != nil {
				failed++
				return
			}
			order = append(order, name)
		}
		return o
	}
	m := manage(t, "data", o)
	logs := make(map[string]*log.Log)
	for _, name := range []string{"bad-0", "half-0", "less-0", "more-0", "plain-0"} {
		l, err := m.Create(ctx, name, log.TopicID{1})
		require.NoError(t, err)
		if name == "bad-0" { // its files have names of their own, by which they fail
			put(t, l, slices.Repeat([]record.Record{keyed("a", "")}, 50)...)
		}
		putKeys(t, l, 22)
		if name == "bad-0" {
			require.NoError(t, l.DropBefore(l.Segments()[1].Base))
		}
		if name == "less-0" || name == "half-0" { // some of it is clean
			_, err := l.Compact(ctx)
			require.NoError(t, err)
			putKeys(t, l, 22)
		}
		logs[name] = l
	}
	mu.Lock()
	order = nil
	mu.Unlock()
	faulty.Add(vfs.Rule{Op: vfs.OpCreate, Path: fmt.Sprintf("%020d.log.cleaned", logs["bad-0"].First()), Err: syscall.EIO})
	ends := map[string]int64{}
	for name, l := range logs {
		ends[name] = l.Stats().Bytes
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- m.Maintain(ctx, log.Every{Compact: time.Millisecond}) }()
	seen := func() ([]string, int) {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), order...), failed
	}
	soon(t, "both are compacted, and the bad one is tried", func() bool {
		list, failed := seen()
		return len(list) >= 2 && failed >= 2
	})
	list, _ := seen()
	require.Equal(t, []string{"more-0", "less-0"}, list)
	faulty.Clear()
	soon(t, "the bad one is good again", func() bool {
		list, _ := seen()
		return len(list) == 3 && list[2] == "bad-0"
	})
	cancel()
	require.NoError(t, <-done)
	require.Equal(t, ends["half-0"], logs["half-0"].Stats().Bytes)
	require.Equal(t, ends["plain-0"], logs["plain-0"].Stats().Bytes)
	require.NoError(t, m.Close())
	require.ErrorIs(t, m.Maintain(context.Background(), log.Every{Compact: time.Millisecond}), log.ErrClosed)
}

// TestMaintainCompacts a log while it is appended to, as long as it is worth it,
// and reports what fails.
func TestMaintainCompacts(t *testing.T) {
	o := compactedLog()
	var mu sync.Mutex
	var events []log.CompactEvent
	o.Trace.Compacted = func(e log.CompactEvent) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}
	l, faulty, _ := inMem(t, o)
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- l.Maintain(ctx, log.Every{Sync: time.Millisecond, Retain: time.Millisecond, Compact: time.Millisecond})
	}()
	some := func(what string, is func(e log.CompactEvent) bool) {
		t.Helper()
		soon(t, what, func() bool {
			putKeys(t, l, 3)
			mu.Lock()
			defer mu.Unlock()
			for _, e := range events {
				if is(e) {
					return true
				}
			}
			return false
		})
	}
	some("it is compacted", func(e log.CompactEvent) bool { return e.Err == nil && e.Result.Dropped > 0 })
	faulty.Add(vfs.Rule{Op: vfs.OpCreate, Path: "*.cleaned", Err: syscall.EIO})
	some("it fails", func(e log.CompactEvent) bool { return errors.Is(e.Err, syscall.EIO) })
	faulty.Clear()
	mu.Lock()
	events = nil
	mu.Unlock()
	some("it is tried again", func(e log.CompactEvent) bool { return e.Err == nil && e.Result.Dropped > 0 })
	cancel()
	require.NoError(t, <-done)
	require.NoError(t, l.Close())
	require.ErrorIs(t, l.Maintain(context.Background(), log.Every{Compact: time.Millisecond}), log.ErrClosed)
}

// TestCompactedLogsWantKeys: records without a key are refused, whole batches
// at a time, but for those that a leader took.
func TestCompactedLogsWantKeys(t *testing.T) {
	l, _, _ := inMem(t, compactedLog())
	put(t, l, record.Record{Key: []byte{}, Value: []byte("an empty key is one")})
	_, err := l.Append(keyed("a", "1"), rec("no key"))
	require.ErrorIs(t, err, record.ErrInvalid)
	require.ErrorContains(t, err, "record 1 of 2")
	require.ErrorContains(t, err, "key")
	_, err = l.AppendSync(ctx, rec("no key"))
	require.ErrorIs(t, err, record.ErrInvalid)
	for _, codec := range []record.Codec{record.None, record.LZ4} {
		raw := encode(t, record.BatchOptions{Codec: codec}, keyed("a", "1"), keyed("b", ""), rec("no key"))
		_, err = l.AppendBatch(raw, log.FromClient)
		require.ErrorIs(t, err, record.ErrInvalid)
		require.ErrorContains(t, err, "record 2 of 3")
	}
	require.EqualValues(t, 1, l.End())
	raw := encode(t, record.BatchOptions{BaseOffset: 1}, rec("no key"))
	_, err = l.AppendBatch(raw, log.FromLeader)
	require.NoError(t, err)
	_, err = l.EndTransaction(log.EndTxn{ProducerID: 7, Commit: true}) // a marker has a key
	require.NoError(t, err)
	require.EqualValues(t, 3, l.End())
}

// TestCompactedLogRollsByMaxLag: a record that has to be compacted by then does
// not stay in the active segment longer.
func TestCompactedLogRollsByMaxLag(t *testing.T) {
	o := compactedLog()
	o.SegmentAge = time.Hour
	for lag, segments := range map[time.Duration]int{0: 1, time.Minute: 2, 2 * time.Minute: 1} {
		o.Compaction = &compact.Options{MaxLag: lag}
		l, _, _ := inMem(t, o)
		first := keyed("a", "1")
		for _, after := range []time.Duration{0, time.Minute + time.Millisecond} {
			first.Time = someTime.Add(after)
			put(t, l, first)
		}
		require.Len(t, l.Segments(), segments, "%v", lag)
	}
}
