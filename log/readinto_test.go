package log_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// TestReadInto gives what Read does, in the caller's memory, of which it asks for
// more only where there is too little.
func TestReadInto(t *testing.T) {
	l, _, _ := inMem(t, log.Options{})
	fill(t, l, 50)
	put(t, l, record.Record{Key: []byte("k"), Value: []byte("v"), Headers: []record.Header{{Key: "h", Value: []byte("x")}}})
	var buf []byte
	for offset := range l.End() {
		want, err := l.Read(offset)
		require.NoError(t, err)
		var got record.Record
		got, buf, err = l.ReadInto(offset, buf)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.GreaterOrEqual(t, cap(buf), len(got.Value))
	}
	_, same, err := l.ReadInto(l.End(), buf)
	require.ErrorIs(t, err, log.ErrBeyond)
	require.Equal(t, cap(buf), cap(same), "the buffer comes back with an error, too")
	if !raceEnabled {
		require.Zero(t, testing.AllocsPerRun(100, func() { _, buf, _ = l.ReadInto(7, buf) }))
	}
}
