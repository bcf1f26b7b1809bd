//go:build unix

package compact

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/segment"
)

// TestWorkersFault: memory that cannot be touched is an error of the cleaning,
// on whichever goroutine it is met.
func TestWorkersFault(t *testing.T) {
	d := newDisk(t, vfs.OS, t.TempDir(), 64<<20)
	d.add(manyChunks(t)...)
	c := &cleaner{Round: d.round(0, hour())}
	p, err := d.segments[0].Pin()
	require.NoError(t, err)
	defer p.Release()
	var j chunk
	data, _, err := p.Run(0, 0, chunkBytes, d.end)
	require.NoError(t, err)
	require.NoError(t, j.fill(data, 0))
	f, err := vfs.OS.OpenFile(d.segments[0].Path(), os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(0))
	require.NoError(t, f.Close())
	failed := make(chan error)
	go func() { failed <- newWorker(c).find(&j) }()
	err = <-failed
	require.ErrorIs(t, err, vfs.ErrFault)
	var damage *segment.DamageError
	require.ErrorAs(t, err, &damage)
}
