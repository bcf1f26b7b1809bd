package log_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// sentinels are all that an error of log can be.
var sentinels = map[string]error{
	"ErrTrimmed": log.ErrTrimmed, "ErrBeyond": log.ErrBeyond, "ErrNoRecord": log.ErrNoRecord, "ErrClosed": log.ErrClosed,
	"ErrReadOnly": log.ErrReadOnly, "ErrFailed": log.ErrFailed, "ErrLocked": log.ErrLocked,
	"ErrTooLarge": record.ErrTooLarge, "ErrInvalid": record.ErrInvalid, "ErrCorrupt": record.ErrCorrupt,
	"ErrUnsupportedMagic": record.ErrUnsupportedMagic, "ErrShort": record.ErrShort,
	"ENOSPC": syscall.ENOSPC, "EMFILE": syscall.EMFILE, "EOF": io.EOF, "Canceled": context.Canceled,
}

func matched(err error) string {
	var list []string
	for name, s := range sentinels {
		if errors.Is(err, s) {
			list = append(list, name)
		}
	}
	return strings.Join(list, " ")
}

// flip changes a bit of a file in place.
func flip(t testing.TB, fs vfs.FS, name string, at int64) {
	t.Helper()
	content, err := vfs.ReadFile(fs, name)
	require.NoError(t, err)
	content[at] ^= 0x10
	require.NoError(t, vfs.WriteFile(fs, name, content))
}

// TestEachErrorIsOneSentinel: an error that leaves log matches exactly one, and
// says enough to act on.
func TestEachErrorIsOneSentinel(t *testing.T) {
	l, faulty, mem := inMem(t, log.Options{SegmentBytes: 1 << 10, MaxBatchBytes: 900})
	fill(t, l, 12)
	require.NoError(t, l.DropBefore(3))
	_, err := l.AppendBatch(encode(t, record.BatchOptions{BaseOffset: 14}, rec("behind a gap")), log.FromLeader)
	require.NoError(t, err)
	readOnly := open(t, "log", log.Options{Mode: log.ReadOnly, Env: log.Env{FS: mem}})
	closed, _, _ := inMem(t, small())
	fill(t, closed, 1)
	closeLog(t, closed)
	failed, failing, _ := inMem(t, small())
	fill(t, failed, 1)
	failing.Add(vfs.Rule{Op: vfs.OpSync, Count: 1, Err: syscall.ENOSPC})
	require.Error(t, failed.Sync(ctx))
	full, filled, _ := inMem(t, small())
	fill(t, full, 5)
	filled.Add(vfs.Rule{Op: vfs.OpAllocate, Path: "*.log", Err: syscall.ENOSPC})
	done, cancel := context.WithCancel(ctx)
	cancel()

	// A log with a flipped bit in a sealed segment and one that lacks descriptors.
	damagedMem := vfs.NewMem()
	damagedFS := vfs.NewFaulty(damagedMem)
	o := small()
	o.Env.FS = damagedFS
	damaged := open(t, "log", o)
	fill(t, damaged, 12)
	closeLog(t, damaged)
	flip(t, damagedMem, "log/00000000000000000005.log", 300)
	damaged = open(t, "log", o)
	poor, poorFS, _ := inMem(t, small())
	fill(t, poor, 12)
	closeLog(t, poor)
	po := small()
	po.Env.FS = poorFS
	poor = open(t, "log", po)
	poorFS.Add(vfs.Rule{Op: vfs.OpOpen | vfs.OpCreate, Err: syscall.EMFILE})

	read := func(l *log.Log, offset int64) func() error {
		return func() error { _, err := l.Read(offset); return err }
	}
	add := func(l *log.Log, r ...record.Record) func() error {
		return func() error { _, err := l.Append(r...); return err }
	}
	batch := func(raw []byte, from log.Source) func() error {
		return func() error { _, err := l.AppendBatch(raw, from); return err }
	}
	magic1 := encode(t, record.BatchOptions{}, rec("x"))
	magic1[16] = 1
	for i, c := range []struct {
		want string
		do   func() error
	}{
		{"ErrTrimmed", read(l, 2)},
		{"ErrTrimmed", func() error { return l.DropFrom(2) }},
		{"ErrTrimmed", func() error { _, err := l.Borrow(2, 1); return err }},
		{"ErrTrimmed", func() error { _, err := l.Explain(2); return err }},
		{"ErrBeyond", read(l, 15)},
		{"ErrBeyond", func() error { return l.DropBefore(16) }},
		{"ErrBeyond", func() error { _, err := l.Explain(15); return err }},
		{"ErrNoRecord", read(l, 12)},
		{"EOF", func() error { _, err := l.Borrow(15, 1); return err }},
		{"ErrTooLarge", add(l, record.Record{Value: make([]byte, 900)})},
		{"ErrTooLarge", batch(encode(t, record.BatchOptions{BaseOffset: 15}, record.Record{Value: make([]byte, 1000)}), log.FromLeader)},
		{"ErrInvalid", add(l, record.Record{Time: someTime.AddDate(-200, 0, 0)})},
		{"ErrInvalid", batch(nil, log.FromClient)},
		{"ErrInvalid", batch(encode(t, record.BatchOptions{}, rec("x"))[:20], log.FromLeader)},
		{"ErrInvalid", batch(encode(t, record.BatchOptions{}, rec("x")), log.FromLeader)},
		{"ErrUnsupportedMagic", batch(magic1, log.FromClient)},
		{"ErrCorrupt", batch(append(encode(t, record.BatchOptions{}, rec("x"))[:68:68], 1), log.FromClient)},
		{"Canceled", func() error {
			for _, err := range l.Tail(done, l.End()) {
				return err
			}
			return nil
		}},
		{"Canceled", func() error { _, err := l.Retain(done); return err }},
		{"ErrClosed", add(closed, rec("x"))},
		{"ErrClosed", closed.Close},
		{"ErrClosed", read(closed, 0)},
		{"ErrReadOnly", add(readOnly, rec("x"))},
		{"ErrReadOnly", func() error { return readOnly.DropBefore(1) }},
		{"ErrFailed", add(failed, rec("x"))},
		{"ErrFailed", func() error { return failed.Sync(ctx) }},
		{"ENOSPC", add(full, rec(value(1)))},
		{"ErrLocked", func() error {
			_, err := log.Open(ctx, "log", log.Options{Env: log.Env{FS: faulty}})
			return err
		}},
		{"ErrCorrupt", read(damaged, 6)},
		{"EMFILE", read(poor, 1)},
		{"EMFILE", func() error { _, err := poor.OffsetAt(someTime); return err }},
	} {
		err := c.do()
		if !assert.Error(t, err, "%d: %s", i, c.want) {
			continue
		}
		got := matched(err)
		if c.want == "ErrFailed" && got != c.want { // with its cause
			assert.Contains(t, strings.Fields(got), "ErrFailed")
			continue
		}
		assert.Equal(t, c.want, got, "%d: %v", i, err)
	}

	_, err = damaged.Read(6)
	var d *log.DamageError
	require.ErrorAs(t, err, &d)
	assert.Equal(t, log.DamageError{Path: "log/00000000000000000005.log", Segment: 5, Position: 200, Offset: d.Offset, Next: 7, NextPosition: 400, Err: d.Err}, *d)
	assert.LessOrEqual(t, d.Offset, int64(6))
	var at *log.OffsetError
	_, err = l.Read(2)
	require.ErrorAs(t, err, &at)
	assert.Equal(t, log.OffsetError{Offset: 2, First: 3, End: l.End(), Err: log.ErrTrimmed}, *at)

	// Pitfall H5: with descriptors again, everything is as it was.
	poorFS.Clear()
	wantValues(t, poor)
	fill(t, poor, 5)
	wantValues(t, poor)
}

// TestPitfallT15: a flipped bit is an error that names the place; the records
// around it are read, and the log goes on.
func TestPitfallT15FlippedBit(t *testing.T) {
	mem := vfs.NewMem()
	o := small()
	o.Env.FS = mem
	l := open(t, "log", o)
	fill(t, l, 12)
	closeLog(t, l)
	size, err := vfs.ReadFile(mem, "log/00000000000000000005.log")
	require.NoError(t, err)
	for at := int64(0); at < int64(len(size)); at += 7 {
		name := "log/00000000000000000005.log"
		flip(t, mem, name, at)
		l := open(t, "log", o)
		var got []int64
		bad := 0
		for r, err := range l.From(0) {
			if err != nil {
				var d *log.DamageError
				require.ErrorAs(t, err, &d)
				require.ErrorIs(t, err, record.ErrCorrupt, "byte %d", at)
				require.Equal(t, int64(5), d.Segment)
				bad++
				continue
			}
			require.Equal(t, value(int(r.Offset)), string(r.Value), "byte %d", at)
			got = append(got, r.Offset)
		}
		require.GreaterOrEqual(t, len(got), 11, "byte %d: %v", at, got)
		if len(got) == 11 {
			require.Equal(t, 1, bad, "byte %d", at)
		}
		closeLog(t, l)
		flip(t, mem, name, at)
	}
}
