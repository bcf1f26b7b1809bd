package kafka

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOneBufferForLargeRequests: what a large request begins in is there for the
// next one, and is no larger than a connection may keep.
func TestOneBufferForLargeRequests(t *testing.T) {
	var stream []byte
	body := bytes.Repeat([]byte("0123456789abcdef"), 16<<10)
	const n = 3
	for range n {
		stream = binary.BigEndian.AppendUint32(stream, uint32(len(body)))
		stream = append(stream, body...)
	}
	f := frames{r: bytes.NewReader(stream), largest: 1 << 20, share: share{b: newBudget(8 << 20)}}
	var first *byte
	for i := range n {
		got, err := f.next(t.Context())
		require.NoError(t, err)
		require.True(t, bytes.Equal(body, got))
		require.Equal(t, keep, cap(f.own))
		if own := &f.own[:1][0]; i == 0 {
			first = own
		} else {
			assert.Same(t, first, own, "request %d began in another buffer", i)
		}
	}
	f.giveBack()
	assert.Nil(t, f.lent, "what is shared is given back")
	assert.Equal(t, keep, cap(f.buf))
}
