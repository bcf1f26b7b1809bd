package log_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(holderEnv); dir != "" {
		holdLock(dir) // never returns: see lock_test.go
	}
	goleak.VerifyTestMain(m)
}

var ctx = context.Background()

// small are options whose segments take a handful of values.
func small() log.Options { return log.Options{SegmentBytes: 1 << 10, IndexInterval: 100} }

// open opens a log and closes it when the test ends, if the test did not.
func open(t testing.TB, dir string, o log.Options) *log.Log {
	t.Helper()
	l, err := log.Open(ctx, dir, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := l.Close(); err != nil && !errors.Is(err, vfs.ErrCrashed) && !errors.Is(err, log.ErrClosed) {
			t.Error("Close:", err)
		}
	})
	return l
}

// inMem opens a log in memory behind a Faulty. Mem sets a segment's capacity
// aside, so it is small unless said.
func inMem(t testing.TB, o log.Options) (*log.Log, *vfs.Faulty, *vfs.Mem) {
	t.Helper()
	if o.SegmentBytes == 0 {
		o.SegmentBytes = 64 << 10
	}
	mem := vfs.NewMem()
	faulty := vfs.NewFaulty(mem)
	o.Env.FS = faulty
	return open(t, "log", o), faulty, mem
}

func rec(value string) record.Record { return record.Record{Value: []byte(value)} }

// value is the i-th of 130 bytes: five make a segment of small options.
func value(i int) string { return fmt.Sprintf("%-130d", i) }

// fill appends n values, each its own batch, numbered by
// their offsets.
func fill(t testing.TB, l *log.Log, n int) {
	t.Helper()
	for range n {
		_, err := l.Append(rec(value(int(l.End()))))
		require.NoError(t, err)
	}
}

// wantValues wants the log to be what fill made of it.
func wantValues(t testing.TB, l *log.Log) {
	t.Helper()
	at := l.First()
	for r, err := range l.From(at) {
		require.NoError(t, err)
		require.Equal(t, at, r.Offset)
		require.Equal(t, value(int(at)), string(r.Value))
		at++
	}
	require.Equal(t, l.End(), at)
}

func bases(l *log.Log) (list []int64) {
	for _, s := range l.Segments() {
		list = append(list, s.Base)
	}
	return list
}

func closeLog(t testing.TB, l *log.Log) {
	t.Helper()
	require.NoError(t, l.Close())
}

// names lists a directory.
func names(t testing.TB, fs vfs.FS, dir string) (list []string) {
	t.Helper()
	entries, err := fs.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// soon waits for something another goroutine is to bring about.
func soon(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

func encode(t require.TestingT, o record.BatchOptions, records ...record.Record) []byte {
	var b record.Builder
	b.Reset(o)
	for i := range records {
		require.NoError(t, b.Add(&records[i]))
	}
	raw, err := b.Build()
	require.NoError(t, err)
	return raw
}

// borrowAll copies all the batches of a log.
func borrowAll(t testing.TB, l *log.Log) string {
	t.Helper()
	var all strings.Builder
	for at := l.First(); ; {
		v, err := l.Borrow(at, 1<<20)
		if err == io.EOF {
			return all.String()
		}
		require.NoError(t, err)
		_, err = v.WriteTo(&all)
		require.NoError(t, err)
		at = v.Next()
		v.Release()
	}
}
