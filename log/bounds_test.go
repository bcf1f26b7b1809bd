package log_test

import (
	"io"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/segment"
)

// A bound in the middle of a segment ends a Borrow, also where more segments
// follow it.
func TestBorrowEndsAtTheBound(t *testing.T) {
	l, _, _ := inMem(t, log.Options{Mode: log.Follower, SegmentBytes: 1 << 10, IndexInterval: 100})
	fill(t, l, 20)
	require.NoError(t, l.SetHighWatermark(3))
	require.Greater(t, l.Segments()[0].Next, int64(4))
	_, err := l.Isolated(log.ReadUncommitted).Borrow(3, 1<<20)
	assert.ErrorIs(t, err, io.EOF)
	v, err := l.Isolated(log.ReadUncommitted).Borrow(2, 1<<20)
	require.NoError(t, err)
	assert.EqualValues(t, 3, v.Next())
	v.Release()
}

// A reader beside a writer that loses a segment, and cannot look at the
// directory to learn why, says so.
func TestReaderThatCannotLookAgain(t *testing.T) {
	writer, _, mem := inMem(t, small())
	fill(t, writer, 20)
	faulty := vfs.NewFaulty(mem)
	o := small()
	o.Mode, o.Env.FS, o.MappedSegments = log.ReadOnly, faulty, 1 // the first is not mapped any more
	l := open(t, "log", o)
	require.NoError(t, mem.Remove("log/"+segment.Name(0, segment.LogSuffix)))
	faulty.Add(vfs.Rule{Op: vfs.OpReadDir, Err: syscall.EIO})
	faulty.Add(vfs.Rule{Op: vfs.OpOpen, Path: segment.Name(l.Segments()[len(l.Segments())-1].Base, segment.LogSuffix), Err: syscall.EIO})
	for _, err := range l.From(0) {
		assert.ErrorIs(t, err, syscall.EIO)
		break
	}
	_, err := l.Borrow(0, 1<<20)
	assert.ErrorIs(t, err, syscall.EIO)
	_, err = l.Explain(0)
	assert.ErrorIs(t, err, syscall.EIO)
}
