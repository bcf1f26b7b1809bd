package queue

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAMessageIsNotAllocatedFor: pushing, taking and acknowledging take memory for the
// bytes of a message only, of which many share a block.
func TestAMessageIsNotAllocatedFor(t *testing.T) {
	q := begin(t, t.TempDir(), Options{})
	value := make([]byte, 100)
	require.Zero(t, testing.AllocsPerRun(500, func() {
		_, err := q.Push(background, Message{Value: value})
		require.NoError(t, err)
		m, ok, err := q.TryNext("c")
		require.NoError(t, err)
		require.True(t, ok)
		require.NoError(t, m.Ack())
	}))
}
