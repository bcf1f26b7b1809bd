package kernel

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/fuzz/said"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/retention/compact"
)

var fillings = flag.Int("fillings", 1, "TestFull: how many amounts of room are left, each a block more, for each operation and file system")

// filled is a log on a disk that is about to be full, and what it has to hold.
type filled struct {
	t    *testing.T
	v    *volume
	dir  string
	opts log.Options
	l    *log.Log
	n    int // records appended; the i-th is at offset i
	from int // records below were dropped
}

func (x *filled) record(i int) record.Record {
	id := said.ID{Writer: 0, Batch: i, Count: 1}
	return record.Record{Key: fmt.Appendf(nil, "%d", i%7), Value: said.Value(id, 100+i%5*300)}
}

// check reads all there is.
func (x *filled) check(l *log.Log) {
	x.t.Helper()
	require.Equal(x.t, int64(x.n), l.End())
	require.LessOrEqual(x.t, l.First(), int64(x.from))
	seen := make(map[int64]bool)
	for r, err := range l.From(l.First()) {
		require.NoError(x.t, err)
		id, err := said.Parse(r.Value)
		require.NoError(x.t, err)
		require.Equal(x.t, int64(id.Batch), r.Offset)
		seen[r.Offset] = true
	}
	for i := x.from; i < x.n; i++ {
		if x.opts.Compaction == nil || i >= x.n-7 { // the newest of each key
			require.True(x.t, seen[int64(i)], "offset %d of [%d, %d)", i, x.from, x.n)
		}
	}
}

// full wants no error, or the one of a full disk, and nothing published then.
func (x *filled) full(err error) bool {
	x.t.Helper()
	if err != nil {
		require.ErrorIs(x.t, err, syscall.ENOSPC)
		require.NotErrorIs(x.t, err, log.ErrFailed)
	}
	return err != nil
}

func (x *filled) append() error {
	first, err := x.l.Append(x.record(x.n))
	if err == nil {
		require.Equal(x.t, int64(x.n), first)
		x.n++
	}
	return err
}

func (x *filled) more(n int) {
	x.t.Helper()
	for range n {
		require.NoError(x.t, x.append())
	}
}

func (x *filled) open() {
	x.t.Helper()
	var err error
	x.l, err = log.Open(ctx, x.dir, x.opts)
	require.NoError(x.t, err)
}

// onFull is what is done on a full disk. It returns whether the disk was full to
// it.
var onFull = []struct {
	name string
	do   func(x *filled) bool
}{
	{"append", func(x *filled) bool {
		for range 400 {
			if x.full(x.append()) {
				return x.full(x.append())
			}
		}
		return false
	}},
	{"a large append", func(x *filled) bool {
		first, err := x.l.Append(record.Record{Key: []byte("0"), Value: said.Value(said.ID{Batch: x.n, Count: 1}, 200<<10)})
		if x.full(err) {
			return true
		}
		require.Equal(x.t, int64(x.n), first)
		x.n++
		return false
	}},
	{"durable appends", func(x *filled) bool {
		for range 600 {
			end := x.l.End()
			_, err := x.l.AppendSync(ctx, x.record(x.n))
			if x.l.End() > end {
				x.n++ // appended, if not durable
			}
			if x.full(err) {
				return true
			}
			require.Equal(x.t, int64(x.n), x.l.Durable())
		}
		return false
	}},
	{"checkpoint", func(x *filled) bool { return x.full(x.l.Checkpoint(ctx)) }},
	{"drop before", func(x *filled) bool {
		full := x.v.free() < 64<<10
		require.NoError(x.t, x.l.DropBefore(int64(x.n/2))) // it is what makes room
		x.from = x.n / 2
		return full
	}},
	{"drop from", func(x *filled) bool {
		err := x.l.DropFrom(int64(x.n - 10))
		if err == nil {
			x.n -= 10
			return false
		}
		if errors.Is(err, log.ErrFailed) { // begun, and brought to its end by opening
			require.ErrorIs(x.t, err, syscall.ENOSPC)
			x.v.makeRoom()
			require.NoError(x.t, x.l.Close())
			x.n -= 10
			x.open()
			return true
		}
		return x.full(err)
	}},
	{"compaction", func(x *filled) bool {
		_, err := x.l.Compact(ctx)
		return x.full(err)
	}},
	{"close and open", func(x *filled) bool {
		full := x.full(x.l.Close())
		return x.reopen() || full
	}},
	{"recovery", func(x *filled) bool {
		// As after a kill: the files as they are, with a torn end.
		crashed := x.dir + "-crashed"
		x.v.makeRoom()
		require.NoError(x.t, os.CopyFS(crashed, os.DirFS(x.dir)))
		require.NoError(x.t, x.l.Close())
		names, err := fs.Glob(os.DirFS(crashed), "*.index")
		require.NoError(x.t, err)
		for _, name := range names { // to be derived
			require.NoError(x.t, os.Remove(filepath.Join(crashed, name)))
		}
		require.NoError(x.t, os.RemoveAll(x.dir))
		x.dir = crashed
		x.v.fill(0)
		return x.reopen()
	}},
}

// reopen opens on the full disk or, if there is no room even for that, when there
// is.
func (x *filled) reopen() (full bool) {
	x.t.Helper()
	l, err := log.Open(ctx, x.dir, x.opts)
	if full = x.full(err); full {
		x.t.Logf("with %d bytes left: %v", x.v.free(), err)
		x.v.makeRoom()
		x.open()
		return true
	}
	x.l = l
	return false
}

// TestFull does everything on real file systems that are full to the last block,
// or have a few left. What fails fails with ENOSPC, whole; nothing that was
// appended is lost; and all of it works when there is room again (pitfalls D1,
// D2).
func TestFull(t *testing.T) {
	if !inside(t) {
		return
	}
	vs := volumes(t)
	if len(vs) == 0 {
		t.Skip("NOT TESTED ON REAL FILE SYSTEMS: nothing can be mounted here")
	}
	for _, v := range vs {
		for _, op := range onFull {
			t.Run(v.kind+"/"+op.name, func(t *testing.T) {
				v.t = t
				full := 0
				for i := range *fillings {
					dir := filepath.Join(v.dir, "log")
					x := &filled{t: t, v: v, dir: dir, opts: log.Options{SegmentBytes: 300 << 10, IndexInterval: 512}}
					if op.name == "compaction" {
						x.opts.Compaction = &compact.Options{}
					}
					x.open()
					x.more(900 + 37*i)
					require.NoError(t, x.l.Sync(ctx))
					x.more(20) // not durable
					v.fill(int64(i) * 4096)
					if op.do(x) {
						full++
					}
					x.check(x.l)
					v.makeRoom()
					x.more(300)
					require.NoError(t, x.l.Sync(ctx))
					x.check(x.l)
					require.NoError(t, x.l.Close())
					x.open() // indexes that there was no room for are derived now
					for _, a := range x.l.Recovery().Actions {
						require.Equal(t, recovery.Reindex, a.Kind, "%v", a)
					}
					require.NoError(t, x.l.Close())
					x.open()
					require.True(t, x.l.Recovery().Clean)
					x.check(x.l)
					require.NoError(t, x.l.Close())
					require.NoError(t, os.RemoveAll(x.dir))
				}
				t.Logf("full %d times of %d", full, *fillings)
			})
		}
	}
}
