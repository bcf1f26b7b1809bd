package log_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention"
)

func onMem(m vfs.FS) log.ManagerOptions {
	o := small()
	o.Env.FS = m
	return log.ManagerOptions{Log: o}
}

// manage opens a manager and closes it when the test ends, if the test did not.
func manage(t testing.TB, dir string, o log.ManagerOptions) *log.Manager {
	t.Helper()
	m, err := log.OpenManager(ctx, dir, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := m.Close(); err != nil && !errors.Is(err, log.ErrClosed) && !errors.Is(err, vfs.ErrCrashed) {
			t.Error("Close:", err)
		}
	})
	return m
}

func create(t testing.TB, m *log.Manager, name string, n int) *log.Log {
	t.Helper()
	l, err := m.Create(ctx, name, log.TopicID{1})
	require.NoError(t, err)
	fill(t, l, n)
	return l
}

func logOf(t testing.TB, m *log.Manager, name string) *log.Log {
	t.Helper()
	l, err := m.Log(name)
	require.NoError(t, err)
	return l
}

// partitions lists a manager's directories as "name state", with "!" behind
// those that are set aside.
func partitions(m *log.Manager) (list []string) {
	for _, p := range m.Partitions() {
		s := p.Topic + " " + fmt.Sprint(p.Number) + " " + p.State.String()
		if p.Err != nil {
			s += "!"
		}
		list = append(list, s)
	}
	return list
}

func text(t testing.TB, fsys vfs.FS, name string) string {
	t.Helper()
	b, err := vfs.ReadFile(fsys, name)
	require.NoError(t, err)
	return string(b)
}

func write(t testing.TB, fsys vfs.FS, name, content string) {
	t.Helper()
	require.NoError(t, vfs.MkdirAll(fsys, filepath.Dir(name), 0o755))
	require.NoError(t, vfs.WriteFile(fsys, name, []byte(content)))
}

func TestManager(t *testing.T) {
	mem := vfs.NewMem()
	m := manage(t, "data", onMem(mem))
	require.Empty(t, m.Partitions())
	create(t, m, "a-b-10", 12)
	create(t, m, "a-b-9", 3)
	require.NoError(t, create(t, m, "c-0", 12).DropBefore(7))
	_, err := m.Create(ctx, "c-0", log.TopicID{})
	require.ErrorIs(t, err, log.ErrExists)
	for _, name := range []string{"c", "c-x", "a b-0", "../c-0", "__cluster_metadata-0", "c-0." + strings.Repeat("0", 32) + "-delete"} {
		_, err := m.Create(ctx, name, log.TopicID{})
		require.ErrorIs(t, err, record.ErrInvalid, name)
	}
	_, err = m.Log("c-1")
	require.ErrorIs(t, err, log.ErrNoPartition)
	require.Equal(t, []string{"a-b 9 live", "a-b 10 live", "c 0 live"}, partitions(m))
	var open []string
	for name, l := range m.Logs() {
		open = append(open, name)
		wantValues(t, l)
	}
	require.Equal(t, []string{"a-b-9", "a-b-10", "c-0"}, open)
	require.NoError(t, m.Checkpoint(ctx))
	require.Equal(t, "0\n3\na-b 10 12\na-b 9 3\nc 0 12\n", text(t, mem, "data/recovery-point-offset-checkpoint"))
	fill(t, logOf(t, m, "a-b-9"), 1)
	require.NoError(t, m.Close())
	require.ErrorIs(t, m.Close(), log.ErrClosed)
	_, err = m.Log("c-0")
	require.ErrorIs(t, err, log.ErrClosed)
	_, err = m.Create(ctx, "d-0", log.TopicID{})
	require.ErrorIs(t, err, log.ErrClosed)
	require.ErrorIs(t, m.Delete("c-0"), log.ErrClosed)
	require.ErrorIs(t, m.Maintain(ctx, log.Every{}), log.ErrClosed)

	require.Equal(t, "0\n3\na-b 10 12\na-b 9 4\nc 0 12\n", text(t, mem, "data/recovery-point-offset-checkpoint"))
	require.Equal(t, "0\n3\na-b 10 12\na-b 9 4\nc 0 12\n", text(t, mem, "data/replication-offset-checkpoint"))
	require.Equal(t, "0\n1\nc 0 7\n", text(t, mem, "data/log-start-offset-checkpoint"))
	require.Equal(t, `{"brokerEpoch":-1,"version":0}`, text(t, mem, "data/.kafka_cleanshutdown"))
	require.Equal(t, "version: 0\ntopic_id: AQAAAAAAAAAAAAAAAAAAAA", text(t, mem, "data/c-0/partition.metadata"))

	o := onMem(mem)
	o.Log.Mode = log.ReadOnly
	reader := manage(t, "data", o)
	require.True(t, reader.Found().Clean)
	wantValues(t, logOf(t, reader, "c-0"))
	require.Equal(t, int64(7), logOf(t, reader, "c-0").First())
	_, err = reader.Create(ctx, "d-0", log.TopicID{})
	require.ErrorIs(t, err, log.ErrReadOnly)
	require.ErrorIs(t, reader.Delete("c-0"), log.ErrReadOnly)

	m = manage(t, "data", onMem(mem))
	require.True(t, m.Found().Clean)
	_, err = mem.Stat("data/.kafka_cleanshutdown")
	require.ErrorIs(t, err, fs.ErrNotExist)
	for _, p := range m.Partitions() {
		require.Equal(t, log.TopicID{1}, p.TopicID)
		require.True(t, p.Log.Recovery().Clean)
		wantValues(t, p.Log)
	}
	_, err = log.OpenManager(ctx, "data", onMem(mem))
	require.ErrorIs(t, err, log.ErrLocked)
}

// TestManagerSharesOneBudget: of the segments of all logs, as many are mapped
// as of one.
func TestManagerSharesOneBudget(t *testing.T) {
	o := onMem(vfs.NewMem())
	o.Log.MappedSegments = 4
	m := manage(t, "data", o)
	for i := range 5 {
		create(t, m, fmt.Sprintf("t-%d", i), 30)
	}
	for _, l := range m.Logs() {
		wantValues(t, l)
		require.LessOrEqual(t, l.Stats().Mapped, 4)
		require.Greater(t, l.Stats().Segments, 4)
	}
}

// TestManagerEach: a topic's settings are its own.
func TestManagerEach(t *testing.T) {
	o := onMem(vfs.NewMem())
	o.Each = func(name string, o log.Options) log.Options {
		if name == "short-0" {
			o.Retention = retention.MaxBytes(1)
		}
		o.Mode, o.Env = log.ReadOnly, log.Env{} // not its own
		return o
	}
	m := manage(t, "data", o)
	short, long := create(t, m, "short-0", 20), create(t, m, "long-0", 20)
	stop := maintain(t, m, log.Every{Retain: time.Millisecond})
	soon(t, "retention", func() bool { return short.First() > 10 })
	stop()
	require.Zero(t, long.First())
}

// maintain runs the loop until the func it returns is called.
func maintain(t testing.TB, m *log.Manager, every log.Every) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- m.Maintain(ctx, every) }()
	return func() {
		cancel()
		require.NoError(t, <-done)
	}
}

func TestManagerMaintains(t *testing.T) {
	mem := vfs.NewMem()
	o := onMem(mem)
	o.Log.DeleteDelay = time.Millisecond
	m := manage(t, "data", o)
	a, b := create(t, m, "a-0", 3), create(t, m, "b-0", 3)
	stop := maintain(t, m, log.Every{Sync: time.Millisecond})
	soon(t, "checkpoints", func() bool {
		_, err := mem.Stat("data/recovery-point-offset-checkpoint")
		return err == nil && a.Durable() == 3 && b.Durable() == 3
	})
	late := create(t, m, "c-0", 3)
	soon(t, "one that came later", func() bool { return late.Durable() == 3 })
	require.NoError(t, m.Delete("b-0"))
	soon(t, "unlinked", func() bool { return len(m.Partitions()) == 2 })
	stop()

	stop = maintain(t, m, log.Every{SyncBytes: 500})
	soon(t, "synced by bytes", func() bool {
		fill(t, a, 1) // what came before it is first seen does not count
		return a.Durable() > 3
	})
	stop()
}

// TestManagerMaintainsAfterAFullDisk: what could not be synced for want of room
// is synced when there is some, though nothing more is appended.
func TestManagerMaintainsAfterAFullDisk(t *testing.T) {
	mem := vfs.NewMem()
	faulty := vfs.NewFaulty(mem)
	m := manage(t, "data", onMem(faulty))
	l := create(t, m, "a-0", 2)
	full := faulty.Add(vfs.Rule{Op: vfs.OpCreate, Path: "seglog.checkpoint*", Err: syscall.ENOSPC})
	stop := maintain(t, m, log.Every{SyncBytes: 1})
	soon(t, "tried in vain", func() bool {
		fill(t, l, 1) // over rolls
		return full.Failed() > 0
	})
	require.Less(t, l.Durable(), l.End())
	faulty.Clear()
	soon(t, "synced", func() bool { return l.Durable() == l.End() })
	stop()
}

// TestManagerDelete: the directory is renamed at once, its files go later, and
// a new partition of the name knows nothing of the old one.
func TestManagerDelete(t *testing.T) {
	mem := vfs.NewMem()
	o := onMem(mem)
	o.Log.DeleteDelay = time.Minute
	m := manage(t, "data", o)
	l := create(t, m, "a-0", 12)
	create(t, m, "b-0", 1)
	require.NoError(t, l.DropBefore(7))
	view, err := l.Borrow(8, 1)
	require.NoError(t, err)
	require.NoError(t, m.Checkpoint(ctx))
	require.ErrorIs(t, m.Delete("a-1"), log.ErrNoPartition)
	require.NoError(t, m.Delete("a-0"))
	require.Equal(t, int64(9), view.Next())
	view.Release()
	_, err = l.Read(8)
	require.ErrorIs(t, err, log.ErrClosed)
	require.Equal(t, []string{"a 0 deleted", "b 0 live"}, partitions(m))
	gone := m.Partitions()[0].Name
	require.Regexp(t, `^a-0\.[0-9a-f]{32}-delete$`, gone)
	require.ErrorIs(t, m.Delete(gone), log.ErrNoPartition)

	again := create(t, m, "a-0", 2)
	require.NotContains(t, text(t, mem, "data/log-start-offset-checkpoint"), "a 0")
	require.Zero(t, again.First())
	require.NoError(t, m.Delete("a-0"))
	require.Len(t, m.Partitions(), 3)

	// A power cut now, and the files of the deleted are still deleted ones.
	after := mem.Crash(1)
	m = manage(t, "data", onMem(after))
	require.Equal(t, []string{"a 0 deleted", "a 0 deleted", "b 0 live"}, partitions(m))
	require.NoError(t, m.Close())
	for _, name := range names(t, after, "data") {
		require.NotContains(t, name, "-delete")
	}
}

// TestManagerDeleteDelay: what is deleted or dropped is unlinked at once, unless
// a partition's settings say when; by Maintain then.
func TestManagerDeleteDelay(t *testing.T) {
	mem := vfs.NewMem()
	o, c := onMem(mem), newClock()
	c.option(&o.Log)
	o.Log.DeleteDelay = 2 * time.Millisecond // of the system's clock, to look
	o.Each = func(name string, o log.Options) log.Options {
		o.DeleteDelay = map[string]time.Duration{"long-0": time.Hour, "short-0": time.Minute}[name]
		return o
	}
	m := manage(t, "data", o)
	for _, name := range []string{"long-0", "short-0", "none-0"} {
		l := create(t, m, name, 12)
		require.NoError(t, l.DropBefore(7))
		require.NoError(t, m.Delete(name))
	}
	require.Equal(t, []string{"long 0 deleted", "short 0 deleted"}, partitions(m))
	kept := create(t, m, "short-0", 12)
	require.NoError(t, kept.DropBefore(7))
	require.Contains(t, names(t, mem, "data/short-0"), "00000000000000000000.log.deleted")
	c.add(time.Minute)
	stop := maintain(t, m, log.Every{})
	soon(t, "what is due is unlinked", func() bool {
		return len(m.Partitions()) == 2 && !slices.Contains(names(t, mem, "data/short-0"), "00000000000000000000.log.deleted")
	})
	stop()
	require.Equal(t, []string{"long 0 deleted", "short 0 live"}, partitions(m))
	require.NoError(t, m.Close())
	require.NotContains(t, strings.Join(names(t, mem, "data"), " "), "-delete")
}

// TestManagerForgetsStaleOffsets: a log start in the file is of an earlier
// partition of that name, wherever the deletion was stopped.
func TestManagerForgetsStaleOffsets(t *testing.T) {
	mem := vfs.NewMem()
	write(t, mem, "data/log-start-offset-checkpoint", "0\n1\na 0 5\n")
	m := manage(t, "data", onMem(mem))
	create(t, m, "a-0", 12)
	m = manage(t, "data", onMem(mem.Crash(1)))
	require.Zero(t, logOf(t, m, "a-0").First())
}

// TestPitfallD5ManagerOnAFullDisk: a full disk sets aside what cannot be opened
// now, keeps nothing from being opened again, and loses nothing.
func TestPitfallD5ManagerOnAFullDisk(t *testing.T) {
	mem := vfs.NewMem()
	m := manage(t, "data", onMem(mem))
	for i := range 4 {
		require.NoError(t, create(t, m, fmt.Sprintf("t-%d", i), 12).Sync(ctx))
	}
	mem = mem.Crash(1) // so that there is something to write
	for nth := range 60 {
		faulty := vfs.NewFaulty(mem)
		faulty.Add(vfs.Rule{Op: vfs.OpWriteAt | vfs.OpAllocate | vfs.OpSync, After: nth, Err: syscall.ENOSPC})
		o := onMem(faulty)
		m, err := log.OpenManager(ctx, "data", o)
		require.NoError(t, err)
		require.Len(t, m.Partitions(), 4)
		faulty.Clear()
		full := 0
		for _, p := range m.Partitions() {
			if p.Err != nil {
				require.ErrorIs(t, p.Err, syscall.ENOSPC)
				full++
			}
		}
		for i := range 4 {
			l, err := m.Reopen(ctx, fmt.Sprintf("t-%d", i))
			require.NoError(t, err)
			require.Equal(t, int64(12), l.End())
			wantValues(t, l)
		}
		if full == 0 {
			require.Positive(t, nth)
			return
		}
		mem = mem.Crash(uint64(nth))
	}
}
