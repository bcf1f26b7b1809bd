package kafkadirs_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/testkit"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew")

// oldMessage is a message of format 0 or 1, whole.
func oldMessage(magic byte, offset int64, value string) []byte {
	body := []byte{magic, 0}
	if magic == 1 {
		body = binary.BigEndian.AppendUint64(body, 1_700_000_000_000)
	}
	body = binary.BigEndian.AppendUint32(body, 0xffffffff) // no key
	body = binary.BigEndian.AppendUint32(body, uint32(len(value)))
	body = append(body, value...)
	m := binary.BigEndian.AppendUint64(nil, uint64(offset))
	m = binary.BigEndian.AppendUint32(m, uint32(4+len(body)))
	m = binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(body))
	return append(m, body...)
}

// TestOldFormats: magic 0, which no directory at hand shows, and 1 are refused
// by their own error. A message of theirs that is not whole is a torn tail as
// any other: a batch torn between its length and its magic looks like one.
func TestOldFormats(t *testing.T) {
	for _, magic := range []byte{0, 1} {
		dir := t.TempDir()
		name := filepath.Join(dir, segment.Name(0, segment.LogSuffix))
		content := append(oldMessage(magic, 0, "a"), oldMessage(magic, 1, "b")...)
		require.NoError(t, os.WriteFile(name, content, 0o644))
		refusesOldFormat(t, dir)

		content[len(content)-1] ^= 1 // the second one
		require.NoError(t, os.WriteFile(name, content, 0o644))
		refusesOldFormat(t, dir)

		torn := oldMessage(magic, 0, "torn")
		require.NoError(t, os.WriteFile(name, torn[:len(torn)-1], 0o644))
		appendAndReopen(t, dir, small())
	}
}

// goldenRecords is what testdata/seglog-1 holds.
func goldenRecords() [][]record.Record {
	var batches [][]record.Record
	for i := range 30 {
		var b []record.Record
		for j := range 1 + i%3 {
			r := record.Record{Key: fmt.Appendf(nil, "k%d", i), Value: fmt.Appendf(nil, "value %d of batch %d", j, i),
				Time: time.UnixMilli(1_700_000_000_000 + int64(i)*1000)}
			if i%5 == 0 {
				r.Key, r.Headers = nil, []record.Header{{Key: "h", Value: []byte{byte(i)}}, {Key: "null"}}
			}
			b = append(b, r)
		}
		batches = append(batches, b)
	}
	return batches
}

// TestGoldenSeglog: a directory that version 1 of the checkpoint's format wrote
// opens without a scan, with all seals good, and holds what it did then.
func TestGoldenSeglog(t *testing.T) {
	const golden = "testdata/seglog-1"
	o := log.Options{SegmentBytes: 1500, IndexInterval: 512}
	if *rewrite {
		require.NoError(t, os.RemoveAll(golden))
		l := open(t, golden, o)
		for _, b := range goldenRecords() {
			_, err := l.Append(b...)
			require.NoError(t, err)
		}
		require.NoError(t, l.DropBefore(11))
		require.NoError(t, l.Checkpoint(t.Context()))
		require.NoError(t, l.Close())
		require.NoError(t, os.Remove(filepath.Join(golden, log.LockName)))
	}
	dir := testkit.CopyTree(t, golden)
	v, err := log.Verify(t.Context(), dir, o, nil)
	require.NoError(t, err)
	require.Empty(t, v.Faults)
	require.Empty(t, v.Notes)
	require.Equal(t, v.Segments-1, v.Seals)
	require.Greater(t, v.Seals, 1)
	l := open(t, dir, o)
	require.True(t, l.Recovery().Clean)
	var want []string
	offset := int64(0)
	for _, b := range goldenRecords() {
		for _, r := range b {
			if r.Offset = offset; offset >= 11 {
				want = append(want, line(&r))
			}
			offset++
		}
	}
	require.EqualValues(t, 11, l.First())
	require.Equal(t, want, all(t, l))
	require.NoError(t, l.Close())
	appendAndReopen(t, dir, o)
}
