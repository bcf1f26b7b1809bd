package segment_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// TestStrayBatches: whole batches of another segment, that came to be in the place of
// some of ours, are not in the indexes that are derived, and all behind them are.
func TestStrayBatches(t *testing.T) {
	for name, reopen := range map[string]func(*segment.Config, segment.Facts) (*segment.Segment, error){
		"sealed": func(cfg *segment.Config, f segment.Facts) (*segment.Segment, error) {
			return segment.OpenSealed(cfg, f), nil
		},
		"active": func(cfg *segment.Config, f segment.Facts) (*segment.Segment, error) {
			return segment.OpenActive(cfg, f, 0)
		},
		"reindexed": func(cfg *segment.Config, f segment.Facts) (*segment.Segment, error) {
			return segment.OpenSealed(cfg, f), segment.Reindex(cfg, f)
		},
	} {
		for _, away := range []int64{-1000, 100, 5000} {
			t.Run(fmt.Sprintf("%s/%d", name, away), func(t *testing.T) {
				fs := world(t)
				cfg := config(fs)
				cfg.IndexInterval = 1
				s := create(t, cfg, 1000, run(1000, 50, 2)...)
				require.NoError(t, s.Seal())
				f := s.Facts()
				require.NoError(t, s.Close())

				size := f.Size / 50
				var stray []byte
				for _, p := range run(1000, 50, 2)[10:13] {
					raw := encode(t, p)
					require.EqualValues(t, size, len(raw))
					record.SetBaseOffset(raw, p.offset+away)
					stray = append(stray, raw...)
				}
				file, err := fs.OpenFile(dir+"/"+segment.Name(1000, segment.LogSuffix), os.O_RDWR, 0)
				require.NoError(t, err)
				_, err = file.WriteAt(stray, 10*size)
				require.NoError(t, err)
				require.NoError(t, file.Close())
				require.NoError(t, fs.Remove(dir+"/"+segment.Name(1000, segment.IndexSuffix)))
				require.NoError(t, fs.Remove(dir+"/"+segment.Name(1000, segment.TimeIndexSuffix)))

				s, err = reopen(cfg, f)
				require.NoError(t, err)
				defer func() { require.NoError(t, s.Close()) }()
				p, err := s.Pin()
				require.NoError(t, err)
				for n := range int64(50) {
					if 10 <= n && n < 13 {
						continue
					}
					pos, _, err := p.Find(1000 + 2*n)
					require.NoError(t, err)
					require.Equal(t, n*size, pos, "batch %d", n)
				}
				p.Release()
				if name == "active" {
					require.NoError(t, s.Seal())
				}
				info, err := fs.Stat(dir + "/" + segment.Name(1000, segment.IndexSuffix))
				require.NoError(t, err)
				require.Equal(t, f.IndexBytes-3*8, info.Size(), "%d away", away)
			})
		}
	}
}
