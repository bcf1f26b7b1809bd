package log_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

func TestAppendNumbersRecords(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_123)
	l, _, _ := inMem(t, log.Options{Env: log.Env{Now: func() time.Time { return now }}})
	first, err := l.Append(rec("a"), rec("b"))
	require.NoError(t, err)
	assert.Equal(t, int64(0), first)
	first, err = l.Append(record.Record{Key: []byte("k"), Time: now.Add(-time.Hour), Offset: 77})
	require.NoError(t, err)
	assert.Equal(t, int64(2), first)
	assert.Equal(t, int64(3), l.End())
	assert.Equal(t, int64(3), l.HighWatermark())

	b, err := l.Read(1)
	require.NoError(t, err)
	assert.Equal(t, record.Record{Offset: 1, Time: now.UTC(), Value: []byte("b")}, b)
	k, err := l.Read(2)
	require.NoError(t, err)
	assert.Equal(t, record.Record{Offset: 2, Time: now.Add(-time.Hour).UTC(), Key: []byte("k")}, k)
}

func TestAppendOfNothing(t *testing.T) {
	l, faulty, _ := inMem(t, log.Options{})
	fill(t, l, 3)
	calls := faulty.Calls(vfs.AnyOp)
	first, err := l.Append()
	assert.NoError(t, err)
	assert.Equal(t, int64(3), first)
	first, err = l.AppendSync(ctx)
	assert.NoError(t, err)
	assert.Equal(t, int64(3), first)
	assert.Equal(t, int64(3), l.Durable(), "AppendSync of nothing is Sync")
	assert.LessOrEqual(t, faulty.Calls(vfs.AnyOp)-calls, 2)

	closeLog(t, l)
	_, err = l.Append()
	assert.ErrorIs(t, err, log.ErrClosed)
}

// TestAppendTooLarge: a batch at a limit is taken and one byte more is not, for
// either limit; a refused one leaves no trace.
func TestAppendTooLarge(t *testing.T) {
	overhead := len(encode(t, record.BatchOptions{}, record.Record{Value: make([]byte, 600), Time: time.UnixMilli(1)})) - 600
	for name, o := range map[string]log.Options{
		"MaxBatchBytes": {MaxBatchBytes: 1000},
		"SegmentBytes":  {SegmentBytes: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			l, faulty, _ := inMem(t, o)
			_, err := l.Append(record.Record{Value: make([]byte, 1000-overhead)})
			require.NoError(t, err)
			before, calls := l.Stats(), faulty.Calls(vfs.ChangeOp)
			_, err = l.Append(rec("fits"), record.Record{Value: make([]byte, 1001-overhead)})
			require.ErrorIs(t, err, record.ErrTooLarge)
			_, err = l.Append(record.Record{Value: make([]byte, 1001-overhead)})
			require.ErrorIs(t, err, record.ErrTooLarge)
			assert.Equal(t, before, l.Stats())
			assert.Equal(t, calls, faulty.Calls(vfs.ChangeOp))
		})
	}
}

func TestAppendInvalid(t *testing.T) {
	l, _, _ := inMem(t, log.Options{})
	_, err := l.Append(rec("a"), record.Record{Time: time.UnixMilli(-5)})
	assert.ErrorIs(t, err, record.ErrInvalid)
	assert.ErrorContains(t, err, "record 1 of 2")
	assert.Zero(t, l.End())
}

// TestPitfallT10: whatever is accepted can be read, now and after opening
// again.
func TestPitfallT10WhatIsAcceptedIsReadable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := log.Options{
			SegmentBytes:  int64(rapid.IntRange(61, 3000).Draw(t, "segment")),
			MaxBatchBytes: rapid.IntRange(1, 3000).Draw(t, "batch"),
			Compression:   record.Codec(rapid.IntRange(0, 4).Draw(t, "codec")),
			Env:           log.Env{FS: vfs.NewMem()},
		}
		l, err := log.Open(ctx, "log", o)
		require.NoError(t, err)
		var want []string
		for range rapid.IntRange(1, 12).Draw(t, "appends") {
			records := make([]record.Record, rapid.IntRange(1, 3).Draw(t, "records"))
			for i := range records {
				records[i].Value = bytes.Repeat([]byte{byte(len(want))}, rapid.IntRange(0, 1500).Draw(t, "size"))
				if rapid.Bool().Draw(t, "header") {
					records[i].Headers = []record.Header{{Key: "h", Value: records[i].Value}}
				}
			}
			_, err := l.Append(records...)
			if err != nil {
				require.ErrorIs(t, err, record.ErrTooLarge)
				continue
			}
			for _, r := range records {
				want = append(want, string(r.Value)+fmt.Sprint(len(r.Headers)))
			}
		}
		for range 2 {
			var got []string
			for r, err := range l.From(0) {
				require.NoError(t, err)
				got = append(got, string(r.Value)+fmt.Sprint(len(r.Headers)))
			}
			require.Equal(t, want, got)
			for i := range want {
				_, err := l.Read(int64(i))
				require.NoError(t, err)
			}
			_, err := l.OffsetAt(time.UnixMilli(1))
			require.NoError(t, err)
			require.NoError(t, l.Close())
			l, err = log.Open(ctx, "log", o)
			require.NoError(t, err)
		}
		require.NoError(t, l.Close())
	})
}

func TestRolls(t *testing.T) {
	var rolled []log.RollEvent
	trace := log.Trace{Rolled: func(e log.RollEvent) { rolled = append(rolled, e) }}
	at := func(i int) time.Time { return time.UnixMilli(1_700_000_000_000).Add(time.Duration(i) * time.Minute) }

	t.Run("full", func(t *testing.T) {
		rolled = nil
		o := small()
		o.Trace = trace
		l, _, _ := inMem(t, o)
		fill(t, l, 12)
		assert.Equal(t, []log.RollEvent{{Base: 5, Reason: "full"}, {Base: 10, Reason: "full"}}, rolled)
		assert.Equal(t, []int64{0, 5, 10}, bases(l))
		for _, s := range l.Segments() {
			assert.LessOrEqual(t, s.Bytes, int64(1<<10))
			assert.Equal(t, s.Base == 10, s.Active)
		}
		wantValues(t, l)
	})
	t.Run("age", func(t *testing.T) {
		rolled = nil
		l, _, _ := inMem(t, log.Options{SegmentBytes: 64 << 10, SegmentAge: 10 * time.Minute, Trace: trace})
		for _, minute := range []int{0, 10, 11, 5, 22} { // the first of a segment counts
			_, err := l.Append(record.Record{Time: at(minute)})
			require.NoError(t, err)
		}
		assert.Equal(t, []log.RollEvent{{Base: 2, Reason: "age"}, {Base: 4, Reason: "age"}}, rolled)
	})
	t.Run("index full", func(t *testing.T) {
		rolled = nil
		// As many reopenings as the time index has room for, each with a later time.
		o := log.Options{SegmentBytes: 8 << 10, IndexInterval: 4 << 10, Trace: trace, Env: log.Env{FS: vfs.NewMem()}}
		for i := range 20 {
			l := open(t, "log", o)
			_, err := l.Append(record.Record{Time: at(i)})
			require.NoError(t, err)
			assert.Equal(t, int64(i+1), l.End())
			closeLog(t, l)
		}
		assert.NotEmpty(t, rolled)
		assert.Equal(t, "index full", rolled[0].Reason)
		got, err := open(t, "log", o).OffsetAt(at(13))
		assert.NoError(t, err)
		assert.Equal(t, int64(13), got)
	})
	t.Run("offsets out of reach", func(t *testing.T) {
		rolled = nil
		l, _, _ := inMem(t, log.Options{SegmentBytes: 64 << 10, Trace: trace})
		fill(t, l, 1)
		for _, first := range []int64{1<<31 - 2, 1<<31 - 1, 1<<32 - 3} {
			raw := encode(t, record.BatchOptions{BaseOffset: first}, rec("far"))
			_, err := l.AppendBatch(raw, log.FromLeader)
			require.NoError(t, err, "%d", first)
			r, err := l.Read(first)
			require.NoError(t, err)
			assert.Equal(t, first, r.Offset)
		}
		assert.Equal(t, []log.RollEvent{{Base: 1 << 31, Reason: "offsets out of reach"}}, rolled[:1])
		_, err := l.AppendBatch(encode(t, record.BatchOptions{BaseOffset: l.End() + 1<<31}, rec("x")), log.FromLeader)
		assert.ErrorIs(t, err, record.ErrInvalid)
	})
}

// TestOneBatch: an append is one batch on disk, of the codec asked for.
func TestOneBatch(t *testing.T) {
	for codec := record.None; codec <= record.Zstd; codec++ {
		t.Run(codec.String(), func(t *testing.T) {
			l, _, _ := inMem(t, log.Options{SegmentBytes: 64 << 10, Compression: codec})
			_, err := l.Append(rec(strings.Repeat("a", 500)), rec("b"), rec("c"))
			require.NoError(t, err)
			b, err := record.Parse([]byte(borrowAll(t, l)))
			require.NoError(t, err)
			assert.Equal(t, int32(3), b.Count)
			assert.Equal(t, codec, b.Codec())
			r, err := l.Read(2)
			require.NoError(t, err)
			assert.Equal(t, "c", string(r.Value))
		})
	}
}

// TestLargeBatches go another way to the file than small ones: mixed, they are
// read alike, live, after a kill and after a clean close.
func TestLargeBatches(t *testing.T) {
	for name, dir := range map[string]string{"memory": "log", "disk": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			o := log.Options{SegmentBytes: 1 << 20}
			mem := vfs.NewMem()
			if name == "memory" {
				o.Env.FS = mem
			}
			l := open(t, dir, o)
			text := func(i int64) string {
				sizes := []int{10, 60 << 10, 64<<10 - 70, 64<<10 - 60, 70 << 10, 500 << 10, 300}
				return fmt.Sprintf("%d %s", i, strings.Repeat("x", sizes[i%int64(len(sizes))]))
			}
			check := func() {
				t.Helper()
				at := int64(0)
				for r, err := range l.From(0) {
					require.NoError(t, err)
					require.Equal(t, text(at), string(r.Value))
					at++
				}
				require.Equal(t, l.End(), at)
			}
			for i := range int64(40) {
				if i%3 == 0 {
					raw := encode(t, record.BatchOptions{BaseOffset: i}, timed(text(i), 0))
					_, err := l.AppendBatch(raw, log.FromLeader)
					require.NoError(t, err)
				} else {
					_, err := l.Append(rec(text(i)))
					require.NoError(t, err)
				}
				r, err := l.Read(i)
				require.NoError(t, err)
				require.Equal(t, text(i), string(r.Value))
			}
			check()
			assert.Greater(t, l.Stats().Segments, 2)
			if name == "memory" {
				mem = mem.Kill()
				o.Env.FS = mem
			}
			_ = l.Close()
			l = open(t, dir, o)
			check()
			closeLog(t, l)
			l = open(t, dir, o)
			check()
		})
	}
}

func TestLogAppendTime(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	l, _, _ := inMem(t, log.Options{TimestampType: record.LogAppendTime, Env: log.Env{Now: func() time.Time { return now }}})
	_, err := l.Append(record.Record{Time: now.Add(time.Hour)}, record.Record{})
	require.NoError(t, err)
	for r, err := range l.From(0) {
		require.NoError(t, err)
		assert.Equal(t, now.UTC(), r.Time)
		assert.Equal(t, record.LogAppendTime, r.TimestampType)
	}
}
