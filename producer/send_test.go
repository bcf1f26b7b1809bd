package producer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/record"
)

func TestInterceptors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1)
		var acks []string
		add := func(name string) Interceptor {
			return Interceptor{
				OnSend: func(r Record) (Record, error) {
					r.Value = append(r.Value, name...)
					if name == "bad" {
						return Record{}, errors.New("cannot")
					}
					return r, nil
				},
				OnAck: func(d Delivery, err error) error {
					acks = append(acks, name)
					return errors.New("cannot")
				},
			}
		}
		p := begin(t, f, Options{Interceptors: []Interceptor{add("a"), add("bad"), add("c")}})
		told := false
		future := p.SendFunc(background, value("v"), func(Delivery, error) {
			told = true
			require.Equal(t, []string{"a", "bad", "c"}, acks)
		})
		_, err := future.Wait(background)
		require.NoError(t, err)
		require.NoError(t, p.Flush(background))
		require.Equal(t, []string{"vac"}, f.got()[0].values(t))
		require.True(t, told)
	})
}

// TestRefused: a record that comes into no batch fails at once, and everybody
// is told.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		r    Record
		want error
	}{
		"no topic":               {Record{Value: []byte("v")}, ErrInvalid},
		"negative partition":     {Record{Topic: "t", Partition: At(-3)}, ErrInvalid},
		"no such partition":      {Record{Topic: "t", Partition: At(1)}, ErrMetadata},
		"larger than a request":  {Record{Topic: "t", Value: make([]byte, 2000)}, ErrTooLarge},
		"larger than the memory": {Record{Topic: "t", Value: make([]byte, 950)}, ErrTooLarge},
		"partitioner":            {Record{Topic: "t", Key: []byte("far")}, ErrInvalid},
		"headers":                {Record{Topic: "t", Time: time.Unix(1<<60, 0)}, ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				acks := 0
				p := begin(t, newFake(1), Options{MaxRequestBytes: 1500, BufferBytes: 1000, BatchBytes: 100, MaxBlock: time.Second,
					Partitioner:  PartitionerFunc(func(r Record, _ Topic) (int32, bool) { return 9, r.Key != nil }),
					Interceptors: []Interceptor{{OnAck: func(_ Delivery, err error) error { acks++; require.ErrorIs(t, err, c.want); return nil }}}})
				told := 0
				future := p.SendFunc(background, c.r, func(d Delivery, err error) {
					told++
					require.ErrorIs(t, err, c.want)
					require.False(t, d.Stored)
				})
				_, err := future.Wait(background)
				require.ErrorIs(t, err, c.want)
				require.NoError(t, p.Flush(background))
				require.Equal(t, 1, told)
				require.Equal(t, 1, acks)
				require.EqualValues(t, 1, p.Stats().Refused)
				require.EqualValues(t, 1000, p.Stats().BufferAvailable)
			})
		})
	}
}

func TestMetadata(t *testing.T) {
	t.Run("unknown for a while", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f, began := newFake(1), time.Now()
			f.topic = func(string) ([]PartitionInfo, error) {
				if time.Since(began) < 10*time.Second {
					return nil, nil
				}
				return make([]PartitionInfo, 2), nil
			}
			p := begin(t, f, Options{})
			_, err := p.SendSync(background, value("v"))
			require.NoError(t, err)
			require.Less(t, time.Since(began), 12*time.Second)
		})
	})
	t.Run("never", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f, began := newFake(1), time.Now()
			f.topic = func(string) ([]PartitionInfo, error) { return nil, fmt.Errorf("%w: asleep", ErrUnavailable) }
			p := begin(t, f, Options{MaxBlock: 3 * time.Second})
			_, err := p.SendSync(background, value("v"))
			require.ErrorIs(t, err, ErrMetadata)
			require.ErrorContains(t, err, `of topic "t" within 3s`)
			require.ErrorContains(t, err, "asleep")
			require.Equal(t, 3*time.Second, time.Since(began))
		})
	})
	t.Run("refused for good", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f, began, final := newFake(1), time.Now(), errors.New("no such topic")
			f.topic = func(string) ([]PartitionInfo, error) { return nil, final }
			p := begin(t, f, Options{})
			_, err := p.SendSync(background, value("v"))
			require.ErrorIs(t, err, final)
			require.Zero(t, time.Since(began))
		})
	})
	t.Run("grows old", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f, asked := newFake(1), 0
			f.topic = func(string) ([]PartitionInfo, error) { asked++; return make([]PartitionInfo, asked), nil }
			p := begin(t, f, Options{})
			for range 3 {
				_, err := p.SendSync(background, value("v"))
				require.NoError(t, err)
			}
			require.Equal(t, 1, asked)
			time.Sleep(6 * time.Minute)
			_, err := p.SendSync(background, value("v"))
			require.NoError(t, err)
			synctest.Wait()
			require.Equal(t, 2, asked)
			r := value("in the new partition")
			r.Partition = At(1)
			_, err = p.SendSync(background, r)
			require.NoError(t, err)
		})
	})
}

// Two that found no room and got memory put their records into one batch: the
// second gives its memory back.
func TestSecondTryAfterAllocation(t *testing.T) {
	o, err := Options{}.withDefaults()
	require.NoError(t, err)
	acc, top := newAccumulator(&o, func() {}), newTopic("t")
	top.learn(acc, make([]PartitionInfo, 1), time.Now())
	q, r := top.known.Load().queues[0], value("v")
	for i, begun := range []bool{true, false} {
		_, err := q.add(&r, time.Now(), nil, nil, nil)
		if i == 0 {
			require.ErrorIs(t, err, errNoBatch)
		}
		fresh := &spare{newBuilder(acc.pool.unit), acc.pool.unit}
		a, err := q.add(&r, time.Now(), nil, nil, fresh)
		require.NoError(t, err)
		require.Equal(t, begun, a.begun)
		require.Equal(t, begun, fresh.builder == nil)
	}
	require.Len(t, q.mu.batches, 1)
}

func TestExhausted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1)
		f.answer = hold
		p := begin(t, f, Options{BatchBytes: 400, BufferBytes: 400, MaxBlock: 2 * time.Second})
		p.Send(background, value(strings.Repeat("x", 250)))
		began := time.Now()
		_, err := p.SendSync(background, value(strings.Repeat("x", 250)))
		require.ErrorIs(t, err, ErrExhausted)
		require.Equal(t, 2*time.Second, time.Since(began))
		ctx, cancel := context.WithTimeout(background, time.Second)
		defer cancel()
		_, err = p.SendSync(ctx, value(strings.Repeat("x", 250)))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 3*time.Second, time.Since(began))
		f.got()[0].stored()
		require.Equal(t, 3*time.Second, p.Stats().BufferWait)
	})
}

// Callbacks run in the order in which batches are done, not the sender's way.
func TestCallbacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1)
		p := begin(t, f, Options{BatchBytes: 100, Linger: NoLinger})
		var order []string
		hang := make(chan struct{})
		for i := range 10 {
			v := fmt.Sprint(i)
			r := value(v)
			r.Key = make([]byte, 50)
			p.SendFunc(background, r, func(Delivery, error) {
				if v == "0" {
					<-hang
				}
				order = append(order, v)
			})
		}
		time.Sleep(time.Millisecond)
		close(hang)
		require.Len(t, f.got(), 10, "a callback that hangs holds up no batch")
		require.NoError(t, p.Flush(background))
		require.Equal(t, "0123456789", strings.Join(order, ""))
	})
}

func TestCallingFromACallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t, newFake(1), Options{})
		done := make(chan struct{})
		p.SendFunc(background, value("v"), func(Delivery, error) {
			defer close(done)
			p.Send(background, value("more"))
			require.NoError(t, p.Flush(background))
			require.NoError(t, p.Close(background))
			_, err := p.SendSync(background, value("too late"))
			require.ErrorIs(t, err, ErrClosed)
		})
		<-done
		require.NoError(t, p.Close(background))
	})
}

func TestCloseEndsWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(2)
		f.answer = func(a *asked) {
			context.AfterFunc(a.ctx, func() { a.done(nil, ErrUnavailable) })
		}
		p := begin(t, f, Options{MaxInFlight: 1, BatchBytes: 100, BufferBytes: 500})
		var futures []*Future
		for range 3 {
			r := value("v")
			r.Key = make([]byte, 50)
			futures = append(futures, p.Send(background, r))
		}
		go func() { // waits for memory
			_, err := p.SendSync(background, value(strings.Repeat("x", 50)))
			require.ErrorIs(t, err, ErrClosed)
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(background, time.Second)
		defer cancel()
		began := time.Now()
		require.ErrorIs(t, p.Close(ctx), context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		for _, f := range futures {
			_, err := f.Wait(background)
			require.ErrorIs(t, err, ErrClosed)
		}
		require.EqualValues(t, 500, p.Stats().BufferAvailable)
	})
}

func TestTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1)
		p := begin(t, f, Options{})
		numbers := For(p, "numbers", String, func(topic string, n int) ([]byte, error) {
			if n < 0 {
				return nil, errors.New("negative")
			}
			return fmt.Appendf(nil, "%s %d", topic, n), nil
		})
		d, err := numbers.SendSync(background, "k", 4, record.Header{Key: "h"})
		require.NoError(t, err)
		require.Equal(t, "numbers", d.Topic)
		require.Equal(t, []string{"numbers 4"}, f.got()[0].values(t))
		_, err = numbers.SendSync(background, "k", -4)
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, "the value: negative")
	})
}
