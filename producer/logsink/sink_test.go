package logsink_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/producer"
	"github.com/seglog/seglog/producer/logsink"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, dir string, o log.Options) *log.Log {
	t.Helper()
	l, err := log.Open(context.Background(), dir, o)
	require.NoError(t, err)
	return l
}

// TestEverySendIsRead: what many goroutines send is in the logs once, where the
// futures say, durable, in each goroutine's order, also after a reopen.
func TestEverySendIsRead(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	var logs []*log.Log
	for _, dir := range dirs {
		logs = append(logs, open(t, dir, log.Options{SegmentBytes: 64 << 10}))
	}
	p, err := producer.New(logsink.New(func(string) ([]*log.Log, error) { return logs, nil }), producer.Options{BatchBytes: 1000})
	require.NoError(t, err)
	const senders, each = 100, 100
	futures := make([][]*producer.Future, senders)
	var group sync.WaitGroup
	for g := range senders {
		group.Go(func() {
			for i := range each {
				futures[g] = append(futures[g], p.Send(context.Background(), producer.Record{
					Topic: "t", Partition: producer.At(int32(g % 3)), Value: fmt.Appendf(nil, "%d:%d", g, i)}))
			}
		})
	}
	group.Wait()
	require.NoError(t, p.Close(context.Background()))
	for i := range logs {
		require.NoError(t, logs[i].Close())
		logs[i] = open(t, dirs[i], log.Options{})
		defer func() { require.NoError(t, logs[i].Close()) }()
	}
	total := int64(0)
	for g, list := range futures {
		last := int64(-1)
		for i, f := range list {
			d, err := f.Result()
			require.NoError(t, err)
			require.True(t, d.Stored)
			require.Greater(t, d.Offset, last)
			last = d.Offset
			rec, err := logs[d.Partition].Read(d.Offset)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("%d:%d", g, i), string(rec.Value))
			require.True(t, d.Time.Equal(rec.Time))
		}
	}
	for _, l := range logs {
		total += l.End()
	}
	require.EqualValues(t, senders*each, total)
}

func BenchmarkSend(b *testing.B) {
	for _, acks := range []producer.Acks{producer.AcksLeader, producer.AcksAll} {
		for _, goroutines := range []int{1, 2, 8} {
			b.Run(fmt.Sprintf("100B/acks=%d/goroutines=%d", acks, goroutines), func(b *testing.B) {
				l := open(b, b.TempDir(), log.Options{SegmentBytes: 64 << 20})
				defer l.Close()
				p, err := producer.New(logsink.One("t", l), producer.Options{Acks: acks})
				require.NoError(b, err)
				value, now := make([]byte, 100), time.Now()
				b.SetBytes(100)
				b.ReportAllocs()
				b.ResetTimer()
				var group sync.WaitGroup
				for g := range goroutines {
					n := b.N / goroutines
					if g < b.N%goroutines {
						n++
					}
					group.Go(func() {
						for range n {
							p.Send(context.Background(), producer.Record{Topic: "t", Value: value, Time: now})
						}
					})
				}
				group.Wait()
				if err := p.Flush(context.Background()); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
				if l.End() != int64(b.N) {
					b.Fatal(l.End())
				}
				require.NoError(b, p.Close(context.Background()))
			})
		}
	}
}
