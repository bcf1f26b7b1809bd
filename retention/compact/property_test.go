package compact

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// TestCollisions: with a hash that has few values, cleanings never lose the
// newest record of a key, nor bring an older one back behind a tombstone that
// went; and the first dirty offset is at or below what was kept for a collision.
func TestCollisions(t *testing.T) {
	tb := t
	rapid.Check(t, func(t *rapid.T) {
		d := newDisk(tb, vfs.NewMem(), "d", 64<<10)
		hashes := rapid.Uint64Range(1, 40).Draw(t, "hashes")
		newest := make(map[string]record.Record)
		first := int64(0)
		for range rapid.IntRange(1, 5).Draw(t, "cleanings") {
			for range rapid.IntRange(1, 3).Draw(t, "segments") {
				var batches [][]byte
				end := d.end
				for range rapid.IntRange(1, 4).Draw(t, "batches") {
					var records []record.Record
					for range rapid.IntRange(1, 8).Draw(t, "records") {
						r := kv(fmt.Sprint("k", rapid.IntRange(0, 15).Draw(t, "key")), "")
						if rapid.Bool().Draw(t, "value") {
							r.Value = fmt.Append(nil, end)
						}
						r.Offset = end
						end++
						newest[string(r.Key)] = r
						records = append(records, r)
					}
					codec := record.Codec(rapid.IntRange(0, 1).Draw(t, "codec"))
					batches = append(batches, encode(tb, record.BatchOptions{Codec: codec}, records...))
				}
				d.add(batches...)
			}
			seed := fmt.Sprint(rapid.Uint64().Draw(t, "seed"))
			d.hash = func(key []byte) uint64 { return xxhash.Sum64String(seed+string(key)) % hashes << 40 }
			r := d.clean(first, Options{DeleteRetention: time.Minute, MapBytes: minMapBytes})
			first = r.FirstDirty
			require.LessOrEqual(t, first, r.MappedTo)
			if r.Collisions > 0 {
				require.Less(t, first, r.MappedTo)
			}
			d.now = d.now.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "minutes")) * time.Minute)

			got := make(map[string]record.Record)
			for _, r := range d.records() {
				got[string(r.Key)] = r
			}
			for key, want := range newest {
				have, ok := got[key]
				if !ok && want.Value == nil {
					continue
				}
				require.True(t, ok, key)
				require.Equal(t, want.Offset, have.Offset)
				require.Equal(t, want.Value, have.Value)
			}
		}
		// Without collisions only the newest is left.
		d.hash = nil
		require.Zero(t, d.clean(first, Options{DeleteRetention: time.Hour}).Collisions)
		require.LessOrEqual(t, len(d.records()), len(newest))
	})
}

// TestKeysOfCompressed: keys of compressed batches are kept in a file while they
// are needed, and it is gone afterwards.
func TestKeysOfCompressed(t *testing.T) {
	d := memDisk(t)
	long := strings.Repeat("k", 70_000)
	var batches [][]byte
	for i := range 20 {
		batches = append(batches, encode(t, record.BatchOptions{Codec: record.Zstd}, kv(fmt.Sprint(long, i%3), "v"), kv(fmt.Sprint(i), "v")))
	}
	d.add(batches...)
	d.clean(0, hour())
	require.Len(t, d.records(), 23)
	_, err := d.cfg.FS.Stat("d/" + keyFileName)
	require.Error(t, err)
}
