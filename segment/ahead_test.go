package segment_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// TestWrittenAhead: the zeros that another goroutine writes ahead come over
// nothing, whatever the sizes of the batches, and no file grows by them after it
// was cut.
func TestWrittenAhead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	cfg := config(vfs.OS)
	cfg.Dir, cfg.Bytes, cfg.IndexInterval = t.TempDir(), 48<<20, 4096
	for round := range 6 {
		base := int64(round) * 1_000_000
		s, err := segment.Create(cfg, base)
		require.NoError(t, err)
		value := make([]byte, 200<<10)
		for i := range value {
			value[i] = byte(1 + r.IntN(255))
		}
		var want []byte
		var b record.Builder
		for next := base; len(want) < 8<<20; next++ {
			size := 1 + r.IntN(2000)
			if r.IntN(50) == 0 {
				size = r.IntN(len(value)) // some go to the file by a write
			}
			b.Reset(record.BatchOptions{BaseOffset: next})
			rec := record.Record{Value: value[:size]}
			require.NoError(t, b.Add(&rec))
			raw, err := b.Build()
			require.NoError(t, err)
			h, err := record.ParseHeader(raw)
			require.NoError(t, err)
			require.NoError(t, s.Reserve(int64(len(raw))))
			require.NoError(t, s.Append(raw, &h, next))
			want = append(want, raw...)
			switch r.IntN(1000) {
			case 0:
				require.NoError(t, s.Trim())
				info, err := os.Stat(s.Path())
				require.NoError(t, err)
				require.EqualValues(t, len(want), info.Size())
			case 1:
				require.NoError(t, s.Sync()) // less is written ahead then
			}
		}
		if round%2 == 0 {
			require.NoError(t, s.Seal())
		} else {
			require.NoError(t, s.Trim())
		}
		require.NoError(t, s.Close())
		got, err := os.ReadFile(s.Path())
		require.NoError(t, err)
		require.Equal(t, len(want), len(got))
		require.True(t, string(want) == string(got), "round %d", round)
	}
}
