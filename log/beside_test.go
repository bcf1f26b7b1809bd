package log_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// TestOpenBesideAnAppender: whatever a reader in another process sees of a batch
// that is being appended, and however much was appended by the time it looks at it
// again, it is no damage.
func TestOpenBesideAnAppender(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, log.Options{SegmentBytes: 16 << 20})
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		r := record.Record{Value: make([]byte, 60_000)}
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			if _, err := l.Append(r); err != nil {
				stopped <- err
				return
			}
			if l.End()-l.First() > 1000 {
				if err := l.DropBefore(l.End() - 300); err != nil {
					stopped <- err
					return
				}
			}
		}
	}()
	for range 60 {
		reader, err := log.Open(ctx, dir, log.Options{Mode: log.ReadOnly})
		require.NoError(t, err)
		require.Empty(t, reader.Recovery().Damage)
		require.NoError(t, reader.Close())
	}
	close(stop)
	require.NoError(t, <-stopped)
}
