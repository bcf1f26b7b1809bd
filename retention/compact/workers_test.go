package compact

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// manyChunks is a log of more work than is under way at a time.
func manyChunks(t *testing.T) (batches [][]byte) {
	t.Helper()
	value := strings.Repeat("v", chunkBytes/4)
	for i := range 8 * maxWorkers {
		batches = append(batches, plain(t, kv(fmt.Sprint(i%5), value), kv(fmt.Sprint("once ", i), value), kv("always", value)))
	}
	return batches
}

// unreadable makes the records of a batch be no records, though its checksum
// holds.
func unreadable(raw []byte) {
	clear(raw[record.HeaderSize:])
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
}

// TestWorkersError: what a worker cannot read ends the cleaning in either pass,
// with the place, and nothing is left of what was begun.
func TestWorkersError(t *testing.T) {
	batches := manyChunks(t)
	bad := len(batches) / 2
	unreadable(batches[bad])
	position := int64(len(bytes.Join(batches[:bad], nil)))
	for pass, first := range []int64{0, int64(3*bad + 3)} {
		d := newDisk(t, vfs.NewMem(), "d", 16<<20)
		d.add(batches...)
		d.add(plain(t, kv("always", "new")))
		_, err := d.round(first, hour()).Run(context.Background())
		var damage *segment.DamageError
		require.ErrorAs(t, err, &damage, "pass %d", pass+1)
		require.Equal(t, position, damage.Position)
		require.EqualValues(t, 3*bad, damage.Offset)
		entries, err := d.cfg.FS.ReadDir("d")
		require.NoError(t, err)
		require.Len(t, entries, 6)
	}
}
