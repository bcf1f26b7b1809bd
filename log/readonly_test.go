package log_test

import (
	"context"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// TestReadOnlyBesideAWriter: it sees what is appended, rolled, dropped and
// truncated, and makes no call that changes anything.
func TestReadOnlyBesideAWriter(t *testing.T) {
	// Relies on A8 (docs/ASSUMPTIONS.md).
	for name, dir := range map[string]string{"memory": "log", "disk": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			o := small()
			var below vfs.FS = vfs.OS
			if name == "memory" {
				below = vfs.NewMem()
			}
			o.Env.FS = below
			w := open(t, dir, o)
			fill(t, w, 3)
			faulty := vfs.NewFaulty(below)
			o.Env.FS, o.Mode = faulty, log.ReadOnly
			r := open(t, dir, o)
			same := func() {
				t.Helper()
				for range 3 { // one look may end at a segment's end
					require.NoError(t, r.Refresh(ctx))
				}
				assert.Equal(t, w.End(), r.End())
				assert.Equal(t, w.First(), r.First())
				wantValues(t, r)
				at, err := r.OffsetAt(time.Time{})
				require.NoError(t, err)
				assert.Equal(t, w.First(), at)
			}
			same()
			fill(t, w, 1)
			same()
			fill(t, w, 30)
			same()
			require.NoError(t, w.DropBefore(17))
			same()
			require.NoError(t, w.DropFrom(22))
			same()
			fill(t, w, 1)
			same()
			for what, err := range everyWrite(t, r) {
				assert.ErrorIs(t, err, log.ErrReadOnly, what)
			}
			closeLog(t, w)
			same()
			closeLog(t, r)
			assert.ErrorIs(t, r.Refresh(ctx), log.ErrClosed)
			assert.Zero(t, faulty.Calls(vfs.ChangeOp), "it changes nothing")
		})
	}
}

func TestReadOnlyTail(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, small())
	fill(t, w, 3)
	o := small()
	o.Mode = log.ReadOnly
	r := open(t, dir, o)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 10 {
			fill(t, w, 5)
			time.Sleep(2 * time.Millisecond)
		}
	})
	next := int64(0)
	var last error
	for rec, err := range r.Tail(ctx, 0) {
		if last = err; err != nil {
			break
		}
		require.Equal(t, next, rec.Offset)
		require.Equal(t, value(int(next)), string(rec.Value))
		if next++; next == 53 {
			cancel()
		}
	}
	wg.Wait()
	assert.ErrorIs(t, last, context.Canceled)
	assert.Equal(t, int64(53), next)
}

func TestReadOnlyNeedsALog(t *testing.T) {
	dir := t.TempDir()
	_, err := log.Open(ctx, dir+"/none", log.Options{Mode: log.ReadOnly})
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = os.Stat(dir + "/none")
	assert.ErrorIs(t, err, fs.ErrNotExist)

	l := open(t, dir, log.Options{Mode: log.ReadOnly}) // an empty directory is an empty log
	assert.Zero(t, l.End())
	wantValues(t, l)
	w := open(t, dir, small())
	fill(t, w, 8)
	require.NoError(t, l.Refresh(ctx))
	require.NoError(t, l.Refresh(ctx))
	assert.Equal(t, int64(8), l.End())
	wantValues(t, l)
}

// A look beside a writer that fails shows nothing it did not take in whole: a
// reader of committed records never sees a transaction that was aborted. The
// next look shows all.
func TestRefreshFails(t *testing.T) {
	for nth := 0; ; nth++ {
		mem := vfs.NewMem()
		o := small()
		o.Env.FS = mem
		w := open(t, "log", o)
		fill(t, w, 2)
		faulty := vfs.NewFaulty(mem)
		o.Env.FS, o.Mode = faulty, log.ReadOnly
		r := open(t, "log", o)
		sendTxn(t, w, 1, 0, 0, 1)
		end(t, w, 1, 1, false)
		if nth%2 == 1 { // and segments that it has not seen
			fill(t, w, 20)
		}
		rule := faulty.Add(vfs.Rule{After: nth / 2, Count: 1, Err: syscall.EMFILE})
		for look := range 4 {
			err := r.Refresh(ctx)
			if err != nil {
				require.ErrorIs(t, err, syscall.EMFILE)
			}
			if end := r.End(); end != 2 {
				require.Equal(t, w.Aborted(0, 4), r.Aborted(0, 4), "call %d, look %d", nth, look)
				require.Equal(t, w.Producers(), r.Producers(), "call %d, look %d", nth, look)
			}
			for rec, err := range r.Isolated(log.ReadCommitted).From(0) {
				require.NoError(t, err)
				require.NotContains(t, []int64{2, 3}, rec.Offset, "call %d, look %d", nth, look)
			}
		}
		require.Equal(t, w.End(), r.End())
		faulty.Clear()
		closeLog(t, r)
		closeLog(t, w)
		require.Empty(t, faulty.InUse())
		if rule.Failed() == 0 {
			require.Greater(t, nth, 10)
			return
		}
	}
}
