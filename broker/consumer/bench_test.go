package consumer

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/record"
)

// BenchmarkConsume reads 100-byte records of batches of 100, by Poll and one by
// one. One operation is one record.
func BenchmarkConsume(b *testing.B) {
	k := open(b, b.TempDir())
	create(b, k, "t", 4)
	batch := make([]record.Record, 100)
	for i := range batch {
		batch[i].Value = make([]byte, 100)
	}
	const batches = 1000
	for i := range batches {
		_, err := k.Produce(b.Context(), "t", int32(i%4), batch...)
		require.NoError(b, err)
	}
	again := func(b *testing.B, read func(c *Consumer, n int)) {
		c := made(b, k, "", Options{Reset: Earliest})
		require.NoError(b, c.Assign(tps("t-0", "t-1", "t-2", "t-3")...))
		b.SetBytes(100)
		b.ReportAllocs()
		b.ResetTimer()
		for left := b.N; left > 0; left -= batches * 100 {
			require.NoError(b, c.SeekToBeginning())
			read(c, min(left, batches*100))
		}
	}
	b.Run("100B/batch=100/Poll", func(b *testing.B) {
		again(b, func(c *Consumer, n int) {
			for n > 0 {
				records, err := c.Poll(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				n -= len(records)
			}
		})
	})
	b.Run("100B/batch=100/Records", func(b *testing.B) {
		again(b, func(c *Consumer, n int) {
			for _, err := range c.Records(context.Background()) {
				if err != nil {
					b.Fatal(err)
				}
				if n--; n == 0 {
					return
				}
			}
		})
	})
}
