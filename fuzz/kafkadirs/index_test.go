package kafkadirs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/testkit"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/segment"
)

// TestKafkaDirsIndexesByteForByte: where a broker wrote a segment in one
// session, batch by batch, the indexes derived here are its own. Before 3.8 the
// time index has the offset of a record in place of its batch's last, so there
// the timestamps alone are compared.
func TestKafkaDirsIndexesByteForByte(t *testing.T) {
	folder := testkit.KafkaDirs(t)
	for rel, sameTimes := range map[string]bool{
		"headers-2x/temperature-0": false, "repl-leader/invoice-0": false, "kraft-meta/__cluster_metadata-0": true,
	} {
		t.Run(rel, func(t *testing.T) {
			dir := testkit.CopyTree(t, filepath.Join(folder, rel))
			kafkas := map[string][]byte{}
			for _, suffix := range []string{segment.IndexSuffix, segment.TimeIndexSuffix} {
				files, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
				require.NoError(t, err)
				require.NotEmpty(t, files)
				for _, file := range files {
					content, err := os.ReadFile(file)
					require.NoError(t, err)
					require.NoError(t, os.Remove(file))
					kafkas[file] = content
				}
			}
			l := open(t, dir, log.Options{IndexInterval: 4096})
			require.NoError(t, l.Close())
			for file, want := range kafkas {
				got, err := os.ReadFile(file)
				require.NoError(t, err)
				if filepath.Ext(file) == segment.IndexSuffix || sameTimes {
					require.True(t, bytes.Equal(want, got), "%s: %d bytes, Kafka's has %d", file, len(got), len(want))
					continue
				}
				base, _, ok := segment.ParseName(filepath.Base(file))
				require.True(t, ok)
				ours := index.NewTimes(base, got, len(got)/index.TimeEntrySize)
				theirs := index.NewTimes(base, want, len(want)/index.TimeEntrySize)
				require.Equal(t, theirs.Len(), ours.Len(), file)
				for i := range ours.Len() {
					require.Equal(t, theirs.At(i).Timestamp, ours.At(i).Timestamp)
					require.GreaterOrEqual(t, ours.At(i).Offset, theirs.At(i).Offset)
				}
			}
		})
	}
}

// TestKafkaDirsPaddedIndexes: full-size indexes, zero padded, as a broker that
// was killed leaves them.
func TestKafkaDirsPaddedIndexes(t *testing.T) {
	folder := testkit.KafkaDirs(t)
	for _, keep := range []bool{true, false} { // entries and padding, or nothing but padding
		dir := testkit.CopyTree(t, filepath.Join(folder, "repl-leader/invoice-0"))
		for suffix, size := range map[string]int64{segment.IndexSuffix: 10485760, segment.TimeIndexSuffix: 10485756} {
			files, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
			require.NoError(t, err)
			for _, file := range append(files[:1:1], filepath.Join(dir, segment.Name(90867, suffix))) {
				if !keep {
					require.NoError(t, os.RemoveAll(file))
				}
				f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o644)
				require.NoError(t, err)
				require.NoError(t, f.Truncate(size))
				require.NoError(t, f.Close())
			}
		}
		o := log.Options{SegmentBytes: 1 << 20, IndexInterval: 4096}
		v, err := log.Verify(t.Context(), dir, o, nil)
		require.NoError(t, err)
		require.NotEmpty(t, v.Notes)
		l := open(t, dir, o)
		require.EqualValues(t, 100294, l.End())
		require.Len(t, l.Recovery().Actions, 1, "the sealed one is derived anew: %v", l.Recovery().Actions)
		require.NoError(t, l.Close())
		appendAndReopen(t, dir, o)
		for _, base := range []int64{0, 90867} {
			info, err := os.Stat(filepath.Join(dir, segment.Name(base, segment.IndexSuffix)))
			require.NoError(t, err)
			require.Less(t, info.Size(), int64(4096))
		}
	}
}
