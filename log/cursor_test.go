package log

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/record"
)

// TestCursor: it keeps its place over ends, rolls and drops, what it gave stays as it
// was, and it tells what From tells.
func TestCursor(t *testing.T) {
	for _, codec := range []record.Codec{record.None, record.Zstd} {
		t.Run(codec.String(), func(t *testing.T) {
			l, err := Open(t.Context(), t.TempDir(), Options{SegmentBytes: 4096, Compression: codec})
			require.NoError(t, err)
			defer func() { require.NoError(t, l.Close()) }()
			c := l.Cursor(3) // inside the first batch
			var rec record.Record
			require.ErrorIs(t, c.Next(&rec), ErrBeyond)
			value := func(i int64) string { return fmt.Sprintf("%0200d", i) }
			var kept []record.Record
			next := int64(3)
			for round := range 40 {
				for range 1 + round%3 {
					var records []record.Record
					for i := range int64(1 + round%5*2) {
						records = append(records, record.Record{Value: []byte(value(l.End() + i)), Headers: []record.Header{{Key: "h"}}})
					}
					if l.End() == 0 {
						records = append(records, record.Record{}, record.Record{}, record.Record{}, record.Record{Value: []byte(value(4)), Headers: []record.Header{{Key: "h"}}})
						records[3] = record.Record{Value: []byte(value(3)), Headers: []record.Header{{Key: "h"}}}
					}
					_, err := l.Append(records...)
					require.NoError(t, err)
				}
				if round == 20 { // what it is to read next goes
					next = l.End() - 1
					require.NoError(t, l.DropBefore(next))
					require.ErrorIs(t, c.Next(&rec), ErrTrimmed)
					c = l.Cursor(next)
				}
				for ; next < l.End(); next++ {
					require.NoError(t, c.Next(&rec))
					require.Equal(t, next, rec.Offset)
					kept = append(kept, rec)
				}
				require.ErrorIs(t, c.Next(&rec), io.EOF)
				require.Zero(t, rec)
			}
			require.Greater(t, len(l.Segments()), 1)
			for _, rec := range kept {
				require.Equal(t, value(rec.Offset), string(rec.Value))
				require.Equal(t, []record.Header{{Key: "h"}}, rec.Headers)
			}
		})
	}
}
