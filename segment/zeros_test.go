package segment

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// counting is a file that is written ahead, and notes what of.
type counting struct {
	vfs.File
	from, end int64
}

func (c *counting) WriteAt(b []byte, at int64) (int, error) {
	if c.end == 0 {
		c.from = at
	}
	c.end = at + int64(len(b))
	return c.File.WriteAt(b, at)
}

func (c *counting) WriteBack(int64, int64) {}

// writes makes a segment of which each write of the log's file is noted.
func writes(t *testing.T) (s *Segment, wrote *[]vfs.Call) {
	t.Helper()
	wrote = new([]vfs.Call)
	fs := vfs.NewFaulty(vfs.NewMem())
	require.NoError(t, vfs.MkdirAll(fs, "log", 0o755))
	fs.Trace = func(c vfs.Call) {
		if c.Op == vfs.OpWriteAt && filepath.Ext(c.Name) == LogSuffix {
			*wrote = append(*wrote, c)
		}
	}
	s, err := Create(&Config{FS: fs, Dir: "log", Bytes: 32 << 20, IndexInterval: 4096,
		Cache: NewCache(1), Logger: slog.New(slog.DiscardHandler)}, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, wrote
}

func add(t *testing.T, s *Segment, size int) {
	t.Helper()
	var b record.Builder
	b.Reset(record.BatchOptions{})
	require.NoError(t, b.Add(&record.Record{Value: make([]byte, size)}))
	raw, err := b.Build()
	require.NoError(t, err)
	h, err := record.ParseHeader(raw)
	require.NoError(t, err)
	require.NoError(t, s.Reserve(int64(len(raw))))
	require.NoError(t, s.Append(raw, &h, s.Next()))
}

// TestZerosOfASyncedLog: the zeros before a batch of a log that is synced, its first
// batch included, are in small pieces, since a sync writes a whole one; of a log that
// is not, in large ones.
func TestZerosOfASyncedLog(t *testing.T) {
	s, wrote := writes(t)
	add(t, s, 100)
	require.NotEmpty(t, *wrote)
	for s.Size() < 4*window {
		add(t, s, 1000)
		require.NoError(t, s.Sync())
	}
	zeroed := int64(0)
	for _, c := range *wrote {
		require.Equal(t, zeroed, c.Off, "zeros follow each other")
		require.EqualValues(t, 4<<10, c.Len)
		zeroed += c.Len
	}
	*wrote = nil
	for range 4 * window / 1000 {
		add(t, s, 1000)
	}
	require.EqualValues(t, window, (*wrote)[len(*wrote)-1].Len)

	facts := s.Facts()
	require.NoError(t, s.Trim())
	again, err := OpenActive(s.cfg, facts, TrustAll)
	require.NoError(t, err)
	defer func() { require.NoError(t, again.Close()) }()
	*wrote = nil
	add(t, again, 100)
	require.NotEmpty(t, *wrote)
	for _, c := range *wrote {
		require.LessOrEqual(t, c.Len, int64(4<<10), "nothing tells of a log that was opened again")
		require.Zero(t, (c.Off+c.Len)%(4<<10), "a piece lies in one page")
	}
}

// TestZerosFarFromASync: the further back the last sync is, the larger the pieces, each
// of which ends at a multiple of its size; a sync makes them small again.
func TestZerosFarFromASync(t *testing.T) {
	s, wrote := writes(t)
	largest := func() (n int64) {
		for _, c := range *wrote {
			if n = max(n, c.Len); c.Len > window {
				require.Zero(t, (c.Off+c.Len)%(4*window))
			}
		}
		*wrote = nil
		return n
	}
	add(t, s, 5000) // not a multiple of anything
	for s.Size() < far {
		add(t, s, window/2)
	}
	require.EqualValues(t, window, largest())
	for s.Size() < 2*far {
		add(t, s, window/2)
	}
	require.EqualValues(t, window, largest(), "what the appender makes itself is little")

	s.w.log.ahead.file = &counting{File: s.w.log.file}
	for range 2 {
		begun := s.Size()
		for s.Size() < begun+16*window {
			add(t, s, 1000)
		}
		s.w.log.settle()
		require.LessOrEqual(t, s.w.log.prepared-s.Size(), int64(24*window), "a run, and the half of one")
		require.EqualValues(t, 4*window, largest())
	}
	require.NoError(t, s.Sync())
	for s.Size() < 2*far+50*window { // more than what is made
		add(t, s, 1000)
	}
	s.w.log.settle()
	*wrote = nil
	require.NoError(t, s.Sync())
	for range 10 {
		add(t, s, window/8)
		require.NoError(t, s.Sync())
	}
	s.w.log.settle()
	require.LessOrEqual(t, largest(), int64(4<<10))
}

// TestNoZerosForWhatIsWritten: a batch that goes to the file by a write comes over no
// zeros, which would go to the file for nothing.
func TestNoZerosForWhatIsWritten(t *testing.T) {
	s, wrote := writes(t)
	ahead := &counting{File: s.w.log.file}
	s.w.log.ahead.file = ahead
	bytes := int64(0)
	for range 10 {
		at := s.Size()
		add(t, s, writeFrom)
		bytes += s.Size() - at
	}
	s.w.log.settle()
	require.Zero(t, ahead.end, "written ahead")
	written := int64(0)
	for _, c := range *wrote {
		written += c.Len
	}
	require.LessOrEqual(t, written, bytes)

	add(t, s, 100)
	s.w.log.settle()
	require.GreaterOrEqual(t, ahead.from, s.Size()-200, "a small batch is prepared for again")
	require.Greater(t, ahead.end, s.Size())
}
