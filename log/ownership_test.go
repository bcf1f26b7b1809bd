package log_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

func scribble(r *record.Record) {
	for _, b := range [][]byte{r.Key, r.Value} {
		b = b[:cap(b)] // behind its end, too
		for i := range b {
			b[i] = '!'
		}
	}
	for i := range r.Headers {
		scribble(&record.Record{Value: r.Headers[i].Value})
		r.Headers[i].Key = "!"
	}
}

// TestPitfallP5: what reads return is the caller's, what appends are given
// stays the caller's. So either may be changed, and nothing in the log does.
func TestPitfallP5Ownership(t *testing.T) {
	for codec := record.None; codec <= record.Zstd; codec++ {
		t.Run(codec.String(), func(t *testing.T) {
			o := small()
			o.Compression = codec
			l, _, _ := inMem(t, o)
			record1 := func(i int) record.Record {
				return record.Record{
					Key: []byte("key"), Value: []byte(value(i)),
					Headers: []record.Header{{Key: "a", Value: []byte(value(i)[:3])}, {Key: value(i)[:3], Value: []byte("2")}},
				}
			}
			for i := 0; i < 12; i += 2 {
				given := []record.Record{record1(i), record1(i + 1)}
				_, err := l.Append(given...)
				require.NoError(t, err)
				scribble(&given[0])
				scribble(&given[1])
			}
			raw := encode(t, record.BatchOptions{Codec: codec}, record1(12))
			_, err := l.AppendBatch(raw, log.FromClient)
			require.NoError(t, err)
			for i := range raw {
				raw[i] = '!'
			}
			want := borrowAll(t, l)

			var kept []record.Record
			for range 2 {
				for r, err := range l.From(0) {
					require.NoError(t, err)
					kept = append(kept, r)
				}
			}
			for i := range int64(13) {
				r, err := l.Read(i)
				require.NoError(t, err)
				kept = append(kept, r)
			}
			for i, r := range slices.Backward(kept) { // every one is its own
				w := record1(i % 13)
				require.Equal(t, w.Key, r.Key)
				require.Equal(t, w.Value, r.Value)
				require.Equal(t, w.Headers, r.Headers)
			}
			// Records of one batch may lie side by side: writing to one, within its
			// length or by appending to it, leaves the others alone.
			for i := range kept {
				_ = append(kept[i].Value, "behind"...)
				_ = append(kept[i].Key, "behind"...)
				_ = append(kept[i].Headers, record.Header{Key: "behind"})
				w := record1(i % 13)
				require.Equal(t, w.Value, kept[i].Value)
				for _, b := range [][]byte{kept[i].Key, kept[i].Value} {
					copy(b, bytes.Repeat([]byte{'!'}, len(b)))
				}
				kept[i].Headers[0].Value[0] = '!'
			}
			assert.Equal(t, want, borrowAll(t, l))
		})
	}
}
