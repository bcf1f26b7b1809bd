package segment_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

const dir = "log"

// world is a file system in memory with an empty directory.
func world(t testing.TB) *vfs.Mem {
	t.Helper()
	fs := vfs.NewMem()
	require.NoError(t, vfs.MkdirAll(fs, dir, 0o755))
	return fs
}

func config(fs vfs.FS) *segment.Config {
	return &segment.Config{
		FS: fs, Dir: dir, Bytes: 64 << 10, IndexInterval: 200,
		Cache: segment.NewCache(8), Logger: slog.New(slog.DiscardHandler),
	}
}

// put is one batch: its first offset and how many records it has, and their
// time in ms (0: none).
type put struct {
	offset int64
	count  int
	ms     int64
}

func encode(t testing.TB, p put) []byte {
	t.Helper()
	var b record.Builder
	b.Reset(record.BatchOptions{})
	for i := range p.count {
		r := record.Record{Value: fmt.Appendf(nil, "record %d", p.offset+int64(i))}
		if p.ms != 0 {
			r.Time = time.UnixMilli(p.ms)
		}
		require.NoError(t, b.Add(&r))
	}
	raw, err := b.Build()
	require.NoError(t, err)
	return append([]byte(nil), raw...)
}

func appendTo(t testing.TB, s *segment.Segment, puts ...put) {
	t.Helper()
	for _, p := range puts {
		raw := encode(t, p)
		h, err := record.ParseHeader(raw)
		require.NoError(t, err)
		require.NoError(t, s.Reserve(int64(len(raw))))
		require.NoError(t, s.Append(raw, &h, p.offset))
	}
}

func create(t testing.TB, cfg *segment.Config, base int64, puts ...put) *segment.Segment {
	t.Helper()
	s, err := segment.Create(cfg, base)
	require.NoError(t, err)
	appendTo(t, s, puts...)
	return s
}

// run is n batches of count records each from offset on, a second apart.
func run(offset int64, n, count int) []put {
	puts := make([]put, n)
	for i := range puts {
		puts[i] = put{offset: offset + int64(i*count), count: count, ms: 1_700_000_000_000 + int64(i)*1000}
	}
	return puts
}

// read is the batch that holds offset, or the next one, by way of the index.
func read(t testing.TB, s *segment.Segment, offset int64) (record.Batch, error) {
	t.Helper()
	p, err := s.Pin()
	require.NoError(t, err)
	defer p.Release()
	pos, low, err := p.Find(offset)
	if err != nil {
		return record.Batch{}, err
	}
	var b record.Batch
	_, err = p.Read(&b, pos, low, nil)
	return b, err
}
