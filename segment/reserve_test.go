package segment_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/segment"
)

// An index moves to the heap for want of room. Whatever call of that fails, its
// memory is given back once.
func TestIndexMovesToTheHeapOnce(t *testing.T) {
	for _, fails := range []vfs.Op{vfs.OpUnmap, vfs.OpTruncate} {
		m := world(t)
		s := create(t, config(m), 0, put{offset: 0, count: 1, ms: 1})
		facts := s.Facts()
		require.NoError(t, s.Close())
		for _, suffix := range []string{segment.IndexSuffix, segment.TimeIndexSuffix} {
			require.NoError(t, m.Remove(filepath.Join(config(m).Dir, segment.Name(0, suffix))))
		}
		f := vfs.NewFaulty(m)
		f.Add(vfs.Rule{Op: vfs.OpAllocate, Path: "*index", Err: syscall.ENOSPC})
		f.Add(vfs.Rule{Op: fails, Path: "*index", Count: 1, Err: syscall.EIO})
		unmapped := 0
		f.Trace = func(c vfs.Call) {
			if c.Op == vfs.OpUnmap && filepath.Ext(c.Name) == ".index" {
				unmapped++
			}
		}
		_, err := segment.OpenActive(config(f), facts, 0)
		require.ErrorIs(t, err, syscall.EIO)
		require.Equal(t, 1, unmapped)
		require.Empty(t, f.InUse())
	}
}
