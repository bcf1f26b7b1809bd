package log_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention/compact"
)

// act is something a writer does while others read its files.
type act struct {
	name string
	do   func(t *testing.T, w *log.Log)
}

const actKeys = 3

// Which of them is the first is drawn.
var everyNth = flag.Int("acts.every", 6, "before which of its reader's calls TestReaderWhileTheWriterActs acts: every n-th")

// generation is the n-th record of a key, of which each generation has another
// length: what is written anew begins and ends in other places.
func generation(offset int64, g int) record.Record {
	return record.Record{Key: fmt.Appendf(nil, "%d", offset%actKeys), Value: fmt.Appendf(nil, "%-*d", 130+40*g, offset)}
}

func again(t *testing.T, w *log.Log, n, g int) {
	t.Helper()
	for range n {
		_, err := w.Append(generation(w.End(), g))
		require.NoError(t, err)
	}
}

var acts = []act{
	{"append", func(t *testing.T, w *log.Log) { again(t, w, 1, 0) }},
	{"roll", func(t *testing.T, w *log.Log) { again(t, w, 6, 0) }},
	{"checkpoint", func(t *testing.T, w *log.Log) { require.NoError(t, w.Checkpoint(ctx)) }},
	{"drop before", func(t *testing.T, w *log.Log) { require.NoError(t, w.DropBefore(7)) }},
	{"drop from the newest segment", func(t *testing.T, w *log.Log) {
		require.NoError(t, w.DropFrom(w.End()-2))
		again(t, w, 7, 1)
	}},
	{"drop from an old segment", func(t *testing.T, w *log.Log) {
		require.NoError(t, w.DropFrom(3))
		again(t, w, 2, 1)
	}},
	{"drop all, twice", func(t *testing.T, w *log.Log) {
		for g := range 2 {
			require.NoError(t, w.DropFrom(w.First()))
			again(t, w, 15, 1+g)
		}
	}},
	{"compact", func(t *testing.T, w *log.Log) {
		r, err := w.Compact(ctx)
		require.NoError(t, err)
		require.NotZero(t, r.Dropped)
	}},
	{"close", func(t *testing.T, w *log.Log) { require.NoError(t, w.Close()) }},
}

// actLog is a writer with some segments, one of them not full.
func actLog(t *testing.T, dir string, fs vfs.FS) *log.Log {
	t.Helper()
	o := small()
	o.Compaction = &compact.Options{}
	o.Env.FS = fs
	w := open(t, dir, o)
	again(t, w, 13, 0)
	require.NoError(t, w.Sync(ctx))
	return w
}

func readOnly(fs vfs.FS) log.Options {
	o := small()
	o.Mode, o.MappedSegments, o.Env.FS = log.ReadOnly, 2, fs
	return o
}

// everyRead reads a log in every way. Nothing of it may fail, but for offsets
// that are not there any more, and every record is one that was written there.
func everyRead(t *testing.T, r *log.Log) (offsets []int64) {
	t.Helper()
	sane := func(err error) bool {
		t.Helper()
		if err != nil && !errors.Is(err, log.ErrTrimmed) && !errors.Is(err, log.ErrBeyond) && err != io.EOF {
			require.NoError(t, err)
		}
		return err == nil
	}
	written := func(rec record.Record) {
		t.Helper()
		for g := range 3 {
			if string(rec.Value) == string(generation(rec.Offset, g).Value) {
				return
			}
		}
		require.Failf(t, "not written", "offset %d: %.30q", rec.Offset, rec.Value)
	}
	last := int64(-1)
	for rec, err := range r.From(r.First()) {
		if !sane(err) {
			break
		}
		written(rec)
		require.Greater(t, rec.Offset, last)
		last = rec.Offset
		offsets = append(offsets, last)
	}
	for at := r.First(); ; {
		v, err := r.Borrow(at, 700)
		if !sane(err) {
			break
		}
		require.Greater(t, v.Next(), at)
		at = v.Next()
		v.Release()
	}
	_, err := r.OffsetAt(time.Time{})
	sane(err)
	_, err = r.ExplainAt(time.Now())
	sane(err)
	_, err = r.Explain(max(r.First(), r.End()-1))
	sane(err)
	return offsets
}

// quickDir is a directory in memory where there is one: this is about mappings,
// and syncs cost the time.
func quickDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "seglog")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// sameAs wants a reader to have caught up with the writer: the newest of each
// key is there, and unless the log is compacted everything.
func sameAs(t *testing.T, r *log.Log, offsets []int64, first, end int64, compacted bool) {
	t.Helper()
	require.Equal(t, first, r.First())
	require.Equal(t, end, r.End())
	newest := make(map[int64]int64)
	for _, o := range offsets {
		newest[o%actKeys] = o
	}
	for o := max(first, end-actKeys); o < end; o++ {
		require.Equal(t, o, newest[o%actKeys])
	}
	if !compacted {
		require.Len(t, offsets, int(end-first))
	}
}

// TestReaderWhileTheWriterActs: another process does something just before any of
// the calls that a reader makes; and does it call by call, with somebody reading in
// between. No reader meets an error, or damage, that is none.
func TestReaderWhileTheWriterActs(t *testing.T) {
	if !vfs.CutsMapped {
		t.Skip("on this system a mapped file is not cut, nor a reader's file removed")
	}
	for _, a := range acts {
		compacted := a.name == "compact"
		t.Run(a.name+" before a call of the reader", func(t *testing.T) {
			for nth := rand.IntN(*everyNth); ; nth += *everyNth {
				dir := quickDir(t)
				w := actLog(t, dir, nil)
				fs := vfs.NewFaulty(vfs.OS)
				calls := 0
				fs.Trace = func(vfs.Call) {
					if calls++; calls == nth+1 {
						a.do(t, w)
					}
				}
				r := open(t, dir, readOnly(fs))
				everyRead(t, r)
				require.NoError(t, r.Refresh(ctx), "before call %d", nth+1)
				everyRead(t, r)
				if nth >= calls {
					require.Greater(t, nth, 20)
					return // the reader is done before
				}
				fs.Trace = nil
				for range 3 {
					require.NoError(t, r.Refresh(ctx))
				}
				sameAs(t, r, everyRead(t, r), w.First(), w.End(), compacted)
				require.NoError(t, r.Close())
			}
		})
		t.Run(a.name+" call by call", func(t *testing.T) {
			dir := quickDir(t)
			fs := vfs.NewFaulty(vfs.OS)
			w := actLog(t, dir, fs)
			r := open(t, dir, readOnly(nil))
			everyRead(t, r)
			looks := 0
			fs.Trace = func(vfs.Call) {
				everyRead(t, r)
				require.NoError(t, r.Refresh(ctx))
				everyRead(t, r)
				if fresh, err := log.Open(ctx, dir, readOnly(nil)); assert.NoError(t, err) {
					everyRead(t, fresh)
					require.NoError(t, fresh.Close())
				}
				looks++
			}
			a.do(t, w)
			fs.Trace = nil
			if a.name != "append" {
				require.Greater(t, looks, 3)
			}
			for range 3 {
				require.NoError(t, r.Refresh(ctx))
			}
			sameAs(t, r, everyRead(t, r), w.First(), w.End(), compacted)
		})
	}
}
