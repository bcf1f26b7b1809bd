package segment_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// TestReadsUpToACut: of a file that somebody cut while it was mapped, each batch
// before the cut is found and read, though a lookup loads what lies behind it.
func TestReadsUpToACut(t *testing.T) {
	if !vfs.CutsMapped {
		t.Skip("a mapped file cannot be cut on this host")
	}
	cfg := config(vfs.OS)
	cfg.Dir, cfg.IndexInterval = t.TempDir(), 1024
	s := create(t, cfg, 0, run(0, 400, 1)...)
	require.NoError(t, s.Seal())
	defer func() { require.NoError(t, s.Close()) }()
	cut := int64(os.Getpagesize())
	require.Greater(t, s.Size(), 2*cut)
	p, err := s.Pin()
	require.NoError(t, err)
	defer p.Release()

	var b record.Batch
	var whole []int64
	for pos, next := int64(0), int64(0); pos < cut; pos, next = pos+int64(b.Size), b.NextOffset() {
		_, err = p.Read(&b, pos, next, nil)
		require.NoError(t, err)
		if pos+int64(b.Size) <= cut {
			whole = append(whole, b.BaseOffset)
		}
	}
	require.Greater(t, len(whole), 20)
	require.NoError(t, os.Truncate(s.Path(), cut))
	for _, offset := range whole {
		pos, low, err := p.Find(offset)
		require.NoError(t, err, "offset %d", offset)
		_, err = p.Read(&b, pos, low, nil)
		require.NoError(t, err)
		assert.Equal(t, offset, b.BaseOffset)
	}
	_, _, err = p.Find(whole[len(whole)-1] + 20)
	var damage *segment.DamageError
	require.ErrorAs(t, err, &damage)
}
