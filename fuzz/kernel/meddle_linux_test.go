package kernel

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seglog/seglog/fuzz/said"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention/compact"
)

// everyCall is of which of the engine's calls TestCutAtEachCall makes a cut.
var everyCall = flag.Int("every", 67, "TestCutAtEachCall: cut before every n-th call")

// compactAll compacts whatever there is.
var compactAll = &compact.Options{}

// meddling is what somebody does to a file of a log that is open.
var meddling = map[string]func(name string) error{
	"cut to nothing": func(name string) error { return os.Truncate(name, 0) },
	"cut in half": func(name string) error {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		return os.Truncate(name, info.Size()/2)
	},
	"unlink": os.Remove,
	"replace": func(name string) error {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name+".other", bytes.Repeat([]byte{0xa5}, int(info.Size())), 0o644); err != nil {
			return err
		}
		return os.Rename(name+".other", name)
	},
	"make unreadable": func(name string) error { return os.Chmod(name, 0) },
}

// meddled is a log that is meddled with. Its records are as numbered makes them.
type meddled struct {
	t   *testing.T
	dir string
	l   *log.Log
	// The file is derived: whatever is done to it, no record is at stake. What is
	// stored to it fails, until the log is opened again.
	derived bool
	// repaired says that offsets may be missing, as after Repair.
	repaired bool
}

// sane wants an error to be none, or one that says what is wrong.
func (m *meddled) sane(what string, err error) bool {
	m.t.Helper()
	var d *log.DamageError
	switch {
	case err == nil:
		return true
	case m.repaired && errors.Is(err, log.ErrNoRecord):
	case m.derived && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, log.ErrFailed):
		require.NoError(m.t, err, what)
	case errors.As(err, &d), errors.Is(err, record.ErrCorrupt):
	case errors.Is(err, log.ErrFailed), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, log.ErrTrimmed), errors.Is(err, log.ErrBeyond):
	default:
		require.NoError(m.t, err, what)
	}
	return false
}

// read reads everything in every way, and wants nothing but what was written.
func (m *meddled) read(what string) (have int) {
	m.t.Helper()
	for r, err := range m.l.From(m.l.First()) {
		if !m.sane(what+": From", err) {
			continue
		}
		id, err := said.Parse(r.Value)
		require.NoError(m.t, err, what)
		require.Equal(m.t, r.Offset, int64(id.Batch), what)
		have++
	}
	for at := m.l.First(); at < m.l.End(); at++ {
		r, err := m.l.Read(at)
		if m.sane(what+": Read", err) {
			require.Equal(m.t, at, r.Offset)
		}
	}
	for _, s := range m.l.Segments() {
		v, err := m.l.Borrow(max(s.Base, m.l.First()), 1<<20)
		if err == io.EOF || !m.sane(what+": Borrow", err) {
			continue
		}
		v.Release()
	}
	_, err := m.l.OffsetAt(time.Now())
	m.sane(what+": OffsetAt", err)
	_, err = m.l.Explain(m.l.End() - 1)
	m.sane(what+": Explain", err)
	return have
}

// live does what a log's owner does.
func (m *meddled) live() {
	l := m.l
	m.read("at first")
	for range 40 { // over a roll
		_, err := l.Append(numbered(int(l.End())))
		m.sane("Append", err)
	}
	_, err := l.AppendSync(ctx, numbered(int(l.End())))
	m.sane("AppendSync", err)
	m.read("after appends")
	m.sane("Checkpoint", l.Checkpoint(ctx))
	m.sane("DropBefore", l.DropBefore(l.First()+3))
	m.read("after DropBefore")
	m.sane("DropFrom", l.DropFrom(l.End()-2))
	m.read("after DropFrom")
	v, err := log.Verify(ctx, m.dir, log.Options{}, nil)
	if m.sane("Verify", err) && m.derived {
		require.Empty(m.t, v.Faults)
	}
}

// TestMeddle: somebody cuts, unlinks, replaces or locks away a file of a log
// that is open. Nobody reads a wrong record, each error says what is wrong, and
// the process lives. Derived files cost nothing. Of records that were in a .log
// that is no more, opening knows; repaired, the log goes on.
func TestMeddle(t *testing.T) {
	for what, meddle := range meddling {
		for _, target := range []struct {
			name    string
			derived bool
		}{
			{"00000000000000000000.log", false}, {"00000000000000000000.index", true}, {"00000000000000000000.timeindex", true},
			{"active.log", false}, {"active.index", true}, {"active.timeindex", true},
			{"seglog.checkpoint", true}, {"seglog.lock", true},
		} {
			t.Run(what+" "+target.name, func(t *testing.T) {
				if os.Getuid() == 0 && what == "make unreadable" {
					asNobody(t)
				}
				dir := inMemory(t)
				o := log.Options{SegmentBytes: 4 << 10, IndexInterval: 256, MappedSegments: 1}
				l, err := log.Open(ctx, filepath.Join(dir, "log"), o)
				require.NoError(t, err)
				m := &meddled{t: t, dir: l.Dir(), l: l, derived: target.derived}
				for i := range 50 {
					_, err := l.Append(numbered(i))
					require.NoError(t, err)
				}
				require.NoError(t, l.Sync(ctx))
				segments := l.Segments()
				require.Greater(t, len(segments), 2)
				name := target.name
				if ext, ok := bytesCut(name, "active"); ok {
					name = fmt.Sprintf("%020d%s", segments[len(segments)-1].Base, ext)
				}
				name = filepath.Join(m.dir, name)
				require.NoError(t, meddle(name))
				m.live()
				end := l.End()
				m.sane("Close", l.Close())
				if what == "make unreadable" {
					if err := os.Chmod(name, 0o644); err != nil {
						require.ErrorIs(t, err, fs.ErrNotExist) // dropped
					}
				}

				l, err = log.Open(ctx, m.dir, o)
				m.l = l
				if m.sane("Open", err) {
					have := m.read("opened again")
					if m.derived || what == "make unreadable" {
						require.Equal(t, int(l.End()-l.First()), have)
						require.GreaterOrEqual(t, l.End(), end)
						require.LessOrEqual(t, l.End(), end+1) // a batch whose index entry could not be stored
					}
					require.NoError(t, l.Close())
				}
				o.Mode = log.Repair
				l, err = log.Open(ctx, m.dir, o)
				require.NoError(t, err)
				m.l, m.repaired = l, true
				m.read("repaired")
				first, err := l.AppendSync(ctx, numbered(int(l.End())))
				require.NoError(t, err)
				require.NoError(t, l.Close())
				o.Mode = log.ReadWrite
				l, err = log.Open(ctx, m.dir, o)
				require.NoError(t, err)
				require.Equal(t, first+1, l.End())
				r, err := l.Read(first)
				require.NoError(t, err)
				require.Equal(t, first, r.Offset)
				require.NoError(t, l.Close())
			})
		}
	}
}

// inMemory is a directory of a file system in memory, where there is one: syncs
// are not what this is about. Anybody may write to it.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "seglog")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777))
	return dir
}

func bytesCut(name, prefix string) (string, bool) {
	rest, ok := bytes.CutPrefix([]byte(name), []byte(prefix))
	return string(rest), ok
}

// asNobody gives this test the rights of nobody on files, until it ends.
func asNobody(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	const nobody = 65534
	require.NoError(t, unix.Setfsuid(nobody))
	t.Cleanup(func() {
		_ = unix.Setfsuid(0)
		runtime.UnlockOSThread()
	})
}

// TestCutAtEachCall: a file is cut under the engine just before any of the calls
// that it makes, so that a mapping it is about to touch, wherever that is, ends
// in a fault: storing a batch, an index entry, reading, verifying, scanning,
// recovering, compacting. Each is an error of that call, and the process lives.
func TestCutAtEachCall(t *testing.T) {
	steps := map[string]func(dir string, o log.Options) error{
		"live": func(dir string, o log.Options) error {
			l, err := log.Open(ctx, dir, o)
			if err != nil {
				return err
			}
			var errs []error
			for range 30 {
				_, err := l.Append(numbered(int(l.End())))
				errs = append(errs, err)
			}
			for _, err := range l.From(l.First()) {
				errs = append(errs, err)
			}
			if v, err := l.Borrow(l.First(), 1<<20); err == nil {
				v.Release()
			}
			_, err = l.OffsetAt(time.Now())
			errs = append(errs, err, l.Sync(ctx))
			_, err = l.Compact(ctx)
			errs = append(errs, err, l.Checkpoint(ctx), l.DropFrom(l.End()-3), l.DropBefore(l.First()+9), l.Close())
			return errors.Join(errs...)
		},
		"verify": func(dir string, o log.Options) error {
			_, err := log.Verify(ctx, dir, o, nil)
			return err
		},
		"repair": func(dir string, o log.Options) error {
			o.Mode = log.Repair
			l, err := log.Open(ctx, dir, o)
			if err != nil {
				return err
			}
			return l.Close()
		},
		"read-only": func(dir string, o log.Options) error {
			o.Mode = log.ReadOnly
			l, err := log.Open(ctx, dir, o)
			if err != nil {
				return err
			}
			var errs []error
			for _, err := range l.From(l.First()) {
				errs = append(errs, err)
			}
			return errors.Join(append(errs, l.Refresh(ctx), l.Close())...)
		},
	}
	base := filepath.Join(inMemory(t), "log")
	o := log.Options{SegmentBytes: 12 << 10, IndexInterval: 64, MappedSegments: 1, Compaction: compactAll}
	l, err := log.Open(ctx, base, o)
	require.NoError(t, err)
	for i := range 130 {
		_, err := l.Append(numbered(i))
		require.NoError(t, err)
	}
	crashed := base + "-crashed" // as a kill leaves it: it has to be scanned
	require.NoError(t, os.CopyFS(crashed, os.DirFS(base)))
	require.NoError(t, l.Close())
	segments := l.Segments()
	faults, errorsSeen := 0, 0
	for name, step := range steps {
		for _, from := range []string{base, crashed} {
			for _, file := range []string{fmt.Sprintf("%020d", segments[1].Base), fmt.Sprintf("%020d", segments[len(segments)-1].Base)} {
				for _, suffix := range []string{".log", ".index", ".timeindex"} {
					for nth, more := 1, true; more; nth += *everyCall {
						dir := base + "-cut"
						require.NoError(t, os.RemoveAll(dir))
						require.NoError(t, os.CopyFS(dir, os.DirFS(from)))
						target := filepath.Join(dir, file+suffix)
						fsys := vfs.NewFaulty(vfs.OS)
						var calls atomic.Int64 // several goroutines make them
						fsys.Trace = func(vfs.Call) {
							if calls.Add(1) == int64(nth) {
								_ = os.Truncate(target, 0) // which may be gone
							}
						}
						o := o
						o.Env.FS = fsys
						err := step(dir, o)
						if more = calls.Load() >= int64(nth); !more {
							break
						}
						if err != nil {
							errorsSeen++
						}
						if errors.Is(err, vfs.ErrFault) {
							faults++
						}
					}
				}
			}
		}
		t.Logf("%s: %d errors so far, %d of them faults", name, errorsSeen, faults)
	}
	require.NotZero(t, faults)
}
