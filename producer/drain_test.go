package producer

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOneBatchOfAPartitionInARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(3)
		p := begin(t, f, Options{BatchBytes: 100, Linger: time.Minute, MaxInFlight: 100, Idempotence: IdempotenceOff})
		for i := range 9 {
			r := value(fmt.Sprint(i))
			r.Partition = At(int32(i % 3))
			r.Key = make([]byte, 50)
			p.Send(background, r)
		}
		require.NoError(t, p.Flush(background))
		for _, a := range f.got() {
			seen := make(map[int32]bool)
			for _, b := range a.Batches {
				require.False(t, seen[b.Partition])
				seen[b.Partition] = true
			}
		}
	})
}

func TestRequestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(10)
		p := begin(t, f, Options{BatchBytes: 4000, MaxRequestBytes: 3000, Linger: time.Minute})
		for i := range 10 {
			r := value(string(make([]byte, 1000)))
			r.Partition = At(int32(i))
			p.Send(background, r)
		}
		require.NoError(t, p.Flush(background))
		first := make(map[int32]int) // which request had the partition
		for i, a := range f.got() {
			bytes := 0
			for _, b := range a.Batches {
				bytes += len(b.Raw)
				first[b.Partition] = i
			}
			require.LessOrEqual(t, bytes, 3000)
		}
		require.Len(t, first, 10)
		// The first batch goes whatever its size: compressed it was smaller.
		require.Len(t, f.got()[0].Batches, 2)
	})
}

func TestMaxInFlight(t *testing.T) {
	for _, most := range []int{1, 3, 5} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(1)
			f.answer = hold
			p := begin(t, f, Options{BatchBytes: 100, MaxInFlight: most, Linger: NoLinger})
			for i := range 20 {
				r := value(fmt.Sprint(i))
				r.Key = make([]byte, 50)
				p.Send(background, r)
			}
			synctest.Wait()
			require.Len(t, f.got(), most)
			f.mu.Lock()
			f.answer = nil
			f.mu.Unlock()
			for _, a := range f.got() {
				a.stored()
			}
			require.NoError(t, p.Flush(background))
			order := []string{}
			for _, a := range f.got() {
				order = append(order, a.values(t)...)
			}
			require.Len(t, order, 20)
			for i, v := range order {
				require.Equal(t, fmt.Sprint(i), v)
			}
		})
	}
}

// With one in flight order is kept by muting, without any sequence number.
func TestMutedPartitionKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1)
		tries := 0
		var order []string
		f.answer = func(a *asked) {
			if tries++; tries%3 != 0 {
				a.fail(ErrUnavailable)
				return
			}
			order = append(order, a.values(t)...)
			a.stored()
		}
		p := begin(t, f, Options{BatchBytes: 100, MaxInFlight: 1, Linger: NoLinger, Idempotence: IdempotenceOff})
		for i := range 10 {
			r := value(fmt.Sprint(i))
			r.Key = make([]byte, 50)
			p.Send(background, r)
		}
		require.NoError(t, p.Flush(background))
		require.Equal(t, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, order)
	})
}

// A partition far down the list is not starved by those before it.
func TestDrainingIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(8)
		f.answer = func(a *asked) { time.AfterFunc(time.Millisecond, a.stored) }
		p := begin(t, f, Options{BatchBytes: 200, MaxRequestBytes: 500, MaxInFlight: 1, Linger: NoLinger})
		for i := range 400 {
			r := value(fmt.Sprint(i))
			r.Partition, r.Key = At(int32(i%8)), make([]byte, 50)
			p.Send(background, r)
		}
		require.NoError(t, p.Flush(background))
		counts := make(map[int32]int)
		for _, a := range f.got()[:len(f.got())/2] {
			for _, b := range a.Batches {
				counts[b.Partition]++
			}
		}
		for n := range int32(8) {
			require.InDelta(t, counts[0], counts[n], 3, "%v", counts)
		}
	})
}

func TestTooLargeIsSplit(t *testing.T) {
	for _, idempotence := range []Idempotence{IdempotenceOn, IdempotenceOff} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(1)
			next := int64(0)
			f.answer = func(a *asked) {
				b := a.batch(t, 0)
				if len(a.Batches[0].Raw) > 300 {
					a.fail(ErrMessageTooLarge)
					return
				}
				if idempotence == IdempotenceOn {
					require.EqualValues(t, next, b.BaseSequence)
				}
				results := []Result{{Offset: next, Stored: true}}
				next += int64(b.Count)
				a.done(results, nil)
			}
			var told []int64
			p := begin(t, f, Options{Idempotence: idempotence, MaxInFlight: 1})
			var futures []*Future
			for i := range 100 {
				futures = append(futures, p.SendFunc(background, value(fmt.Sprint(i)), func(d Delivery, err error) {
					require.NoError(t, err)
					told = append(told, d.Offset)
				}))
			}
			large := p.Send(background, value(string(make([]byte, 500))))
			require.NoError(t, p.Flush(background))
			for i, future := range futures {
				d, err := future.Result()
				require.NoError(t, err)
				require.EqualValues(t, i, d.Offset)
				require.EqualValues(t, i, told[i])
			}
			_, err := large.Wait(background)
			require.ErrorIs(t, err, ErrMessageTooLarge) // one record cannot be split
			require.Positive(t, p.Stats().Splits)
			require.Zero(t, p.Stats().Retries)
			require.EqualValues(t, p.opts.BufferBytes, p.Stats().BufferAvailable)
		})
	}
}
