package compact

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// BenchmarkCompact is the throughput of a cleaning in bytes of uncompressed
// input, both passes, the writing and the syncs included: all of the log is
// dirty and each key is there five times, at random, in batches of 64 KiB.
func BenchmarkCompact(b *testing.B) {
	for _, size := range []int{100, 1 << 10} {
		for codec := record.None; codec <= record.Zstd; codec++ {
			b.Run(fmt.Sprintf("record=%d/%s", size, codec), func(b *testing.B) {
				const total = 256 << 20
				segments := randomSegments(b, total, size, codec)
				b.SetBytes(total)
				for b.Loop() {
					b.StopTimer()
					d := newDisk(b, vfs.OS, b.TempDir(), 64<<20)
					for _, batches := range segments {
						d.add(batches...)
					}
					b.StartTimer()
					r, err := d.round(0, Options{}).Run(context.Background())
					require.NoError(b, err)
					require.Greater(b, r.Dropped, int64(total/size/2))
					b.StopTimer()
					for _, s := range d.segments {
						require.NoError(b, s.Remove())
					}
					b.StartTimer()
				}
			})
		}
	}
}

// randomSegments are the batches of segments of 32 MiB, before compression.
// Values compress by half.
func randomSegments(t testing.TB, total, size int, codec record.Codec) (segments [][][]byte) {
	rng := rand.New(rand.NewPCG(1, 2))
	keys := uint64(total / size / 5)
	perBatch := 64 << 10 / size
	records := make([]record.Record, perBatch)
	for left := total / size; left > 0; {
		var batches [][]byte
		for n := 0; n < 32<<20 && left > 0; n += perBatch * size {
			for i := range records {
				value := make([]byte, 0, size)
				for len(value) < size-20 {
					r := rng.Uint64()
					value = binary.LittleEndian.AppendUint64(value, r&0x0f0f0f0f0f0f0f0f)
					value = binary.LittleEndian.AppendUint64(value, r>>4&0x0f0f0f0f0f0f0f0f)
				}
				records[i] = record.Record{Key: binary.BigEndian.AppendUint64(nil, rng.Uint64N(keys)), Value: value[:size-20], Time: noon}
			}
			batches = append(batches, encode(t, record.BatchOptions{Codec: codec}, records...))
			left -= perBatch
		}
		segments = append(segments, batches)
	}
	return segments
}
