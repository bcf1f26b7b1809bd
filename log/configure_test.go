package log

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention"
	"github.com/seglog/seglog/retention/compact"
)

// clientBatch is a batch as a producer sends it, of one value at a time.
func clientBatch(t *testing.T, at time.Time, key []byte, size int) []byte {
	t.Helper()
	var b record.Builder
	require.NoError(t, b.Add(&record.Record{Time: at, Key: key, Value: make([]byte, size)}))
	raw, err := b.Build()
	require.NoError(t, err)
	return raw
}

// TestConfigure: what is altered counts from the next batch on, in both
// directions, and the log can be opened again.
func TestConfigure(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	fsys := vfs.NewMem()
	o := Options{SegmentBytes: 1 << 20, Env: Env{FS: fsys, Now: func() time.Time { return now }}}
	l, err := Open(t.Context(), "d", o)
	require.NoError(t, err)
	add := func(key []byte, at time.Time, size int) error {
		_, err := l.AppendBatch(clientBatch(t, at, key, size), FromClient)
		return err
	}
	require.NoError(t, add(nil, now, 1000))
	require.NoError(t, add(nil, now, 1000))
	require.Len(t, l.Segments(), 1)

	o.SegmentBytes = 2000
	require.NoError(t, l.Configure(o))
	require.NoError(t, add(nil, now, 1000), "begins a segment")
	require.Len(t, l.Segments(), 2)
	require.ErrorIs(t, add(nil, now, 2000), record.ErrTooLarge)

	o.SegmentBytes = 1 << 20
	require.NoError(t, l.Configure(o))
	require.NoError(t, add(nil, now, 2000), "larger than the segment there is")
	require.NoError(t, add(nil, now, 2000))
	require.Len(t, l.Segments(), 3)

	o.TimeBefore, o.TimeAfter = time.Minute, time.Nanosecond
	require.NoError(t, l.Configure(o))
	require.NoError(t, add(nil, now.Add(-time.Minute), 1))
	require.NoError(t, add(nil, time.Time{}, 1), "no time is no wrong one")
	require.ErrorIs(t, add(nil, now.Add(-time.Minute-time.Millisecond), 1), ErrTimestamp)
	require.ErrorIs(t, add(nil, now.Add(time.Millisecond), 1), ErrTimestamp)

	o.TimestampType = record.LogAppendTime
	require.NoError(t, l.Configure(o))
	a, err := l.AppendBatch(clientBatch(t, now.Add(time.Hour), nil, 1), FromClient)
	require.NoError(t, err)
	require.Equal(t, now.UnixMilli(), a.Time.UnixMilli())

	_, err = l.Dirty()
	require.ErrorIs(t, err, ErrNotCompacted)
	o.Compaction = &compact.Options{}
	require.NoError(t, l.Configure(o))
	require.ErrorIs(t, add(nil, now, 1), record.ErrInvalid, "no key")
	require.NoError(t, add([]byte("k"), now, 1))
	_, err = l.Dirty()
	require.NoError(t, err)

	o.Compaction, o.Retention = nil, retention.MaxBytes(1)
	require.NoError(t, l.Configure(o))
	dropped, err := l.Retain(t.Context())
	require.NoError(t, err)
	require.Len(t, dropped, 2)

	bad := o
	bad.SegmentBytes = 1
	require.Error(t, l.Configure(bad))
	require.NoError(t, add(nil, now, 5000), "nothing changed")
	end := l.End()
	require.NoError(t, l.Close())
	require.True(t, errors.Is(l.Configure(o), ErrClosed))

	l, err = Open(t.Context(), "d", o)
	require.NoError(t, err)
	require.Equal(t, end, l.End())
	require.NoError(t, l.Close())
}

// TestConfigureEmptySegment: the one thing that a raised SegmentBytes does not
// do at once is refused, not written past the segment's memory.
func TestConfigureEmptySegment(t *testing.T) {
	o := Options{SegmentBytes: 1000, Env: Env{FS: vfs.NewMem()}}
	l, err := Open(t.Context(), "d", o)
	require.NoError(t, err)
	o.SegmentBytes = 1 << 20
	require.NoError(t, l.Configure(o))
	_, err = l.AppendBatch(clientBatch(t, time.Now(), nil, 5000), FromClient)
	require.ErrorIs(t, err, record.ErrTooLarge)
	_, err = l.AppendBatch(clientBatch(t, time.Now(), nil, 10), FromClient)
	require.NoError(t, err)
	_, err = l.AppendBatch(clientBatch(t, time.Now(), nil, 5000), FromClient)
	require.NoError(t, err)
	require.NoError(t, l.Close())
}

// TestConfigureCountsForAppend: what is appended unencoded goes by the settings as
// they are now, too.
func TestConfigureCountsForAppend(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	o := Options{SegmentBytes: 1 << 20, Env: Env{FS: vfs.NewMem(), Now: func() time.Time { return now }}}
	l, err := Open(t.Context(), "d", o)
	require.NoError(t, err)
	for range 3 { // the first makes the room
		_, err = l.Append(record.Record{Value: []byte("v"), Time: now.Add(-time.Hour)})
		require.NoError(t, err)
	}
	o.TimestampType, o.Compression, o.Compaction = record.LogAppendTime, record.None, &compact.Options{}
	require.NoError(t, l.Configure(o))
	_, err = l.Append(record.Record{Value: []byte("v")})
	require.ErrorIs(t, err, record.ErrInvalid, "without a key")
	at, err := l.Append(record.Record{Key: []byte("k"), Time: now.Add(-time.Hour)})
	require.NoError(t, err)
	r, err := l.Read(at)
	require.NoError(t, err)
	require.Equal(t, now.UTC(), r.Time)

	o.Compression = record.LZ4
	require.NoError(t, l.Configure(o))
	at, err = l.Append(record.Record{Key: []byte("k")})
	require.NoError(t, err)
	v, err := l.Borrow(at, 1)
	require.NoError(t, err)
	b, err := record.Parse(v.Bytes())
	require.NoError(t, err)
	require.Equal(t, record.LZ4, b.Codec())
	v.Release()
	require.NoError(t, l.Close())
}
