package log_test

import (
	"bytes"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/invariants"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

func TestBorrow(t *testing.T) {
	l, _, _ := inMem(t, small())
	for i := 0; i < 24; i += 2 {
		_, err := l.Append(rec(value(i)), rec(value(i+1)))
		require.NoError(t, err)
	}
	v, err := l.Borrow(3, 1)
	require.NoError(t, err)
	assert.Equal(t, int64(4), v.Next(), "one batch at least, whole")
	b, err := record.Parse(v.Bytes())
	require.NoError(t, err)
	assert.Equal(t, int64(2), b.BaseOffset)
	size := int64(len(v.Bytes()))
	v.Release()

	for limit, next := range map[int64]int64{0: 2, size: 2, 2*size - 1: 2, 2 * size: 4, 1 << 30: 6} {
		v, err := l.Borrow(0, limit)
		require.NoError(t, err)
		assert.Equal(t, next, v.Next(), "%d bytes", limit) // a run ends with its segment
		v.Release()
	}
	for offset, want := range map[int64]error{-1: log.ErrTrimmed, 24: io.EOF, 25: log.ErrBeyond} {
		_, err := l.Borrow(offset, 100)
		assert.ErrorIs(t, err, want, "%d", offset)
	}
	assert.Zero(t, l.Stats().Pins)
}

// TestPitfallP4: memory used after Release is poison in a build that checks.
func TestPitfallP4Poison(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("NOTHING IS POISONED HERE: go test -tags invariants")
	}
	l := open(t, t.TempDir(), small())
	fill(t, l, 3)
	v, err := l.Borrow(0, 1<<20)
	require.NoError(t, err)
	kept := v.Bytes()
	v.Release()
	assert.Equal(t, bytes.Repeat([]byte{invariants.PoisonByte}, len(kept)), kept)
	assert.Nil(t, v.Bytes())
	wantValues(t, l)
}

// locked is a buffer for many goroutines.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *locked) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *locked) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// TestLeakedView: a View that is forgotten is reported, and its memory stays.
func TestLeakedView(t *testing.T) {
	var told locked
	o := small()
	o.Logger = slog.New(slog.NewTextHandler(&told, nil))
	l := open(t, t.TempDir(), o)
	fill(t, l, 12)
	forgotten := func() []byte {
		v, err := l.Borrow(0, 1<<20)
		require.NoError(t, err)
		return v.Bytes()
	}()
	before := strings.Clone(string(forgotten))
	released := func() {
		v, err := l.Borrow(5, 1<<20)
		require.NoError(t, err)
		v.Release()
	}
	released()
	soon(t, "the leak is reported", func() bool {
		runtime.GC()
		return strings.Contains(told.String(), "without Release")
	})
	assert.Contains(t, told.String(), "00000000000000000000.log")
	require.NoError(t, l.DropBefore(12))
	closeLog(t, l)
	assert.Equal(t, before, string(forgotten))
	time.Sleep(time.Millisecond)
	assert.Equal(t, 1, strings.Count(told.String(), "without Release"))
}
