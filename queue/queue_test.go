package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

var background = context.Background()

func begin(t testing.TB, dir string, o Options) *Queue {
	t.Helper()
	q, err := Open(background, dir, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := q.Close(); !errors.Is(err, ErrClosed) {
			require.NoError(t, err)
		}
	})
	return q
}

func push(t testing.TB, q *Queue, values ...string) {
	t.Helper()
	for _, v := range values {
		_, err := q.Push(background, Message{Value: []byte(v)})
		require.NoError(t, err)
	}
}

// all is what a consumer gets now, acknowledged.
func all(t *testing.T, q *Queue, consumer string) (values []string) {
	t.Helper()
	for {
		m, ok, err := q.TryNext(consumer)
		require.NoError(t, err)
		if !ok {
			return values
		}
		values = append(values, string(m.Value))
		require.NoError(t, m.Ack())
	}
}

func TestMessagesPassThrough(t *testing.T) {
	q := begin(t, t.TempDir(), Options{})
	at := time.Now().Add(time.Millisecond)
	for _, m := range []Message{
		{Key: []byte("k"), Value: []byte("v"), Headers: []record.Header{{Key: "h", Value: []byte("x")}, {Key: "h"}}},
		{}, {Key: []byte{}, Value: []byte{}}, {Value: []byte("later"), NotBefore: at},
	} {
		offset, err := q.Push(background, m)
		require.NoError(t, err)
		got, err := q.Next(background, "c")
		require.NoError(t, err)
		require.Equal(t, offset, got.Offset)
		require.Equal(t, m.Key, got.Key)
		require.Equal(t, m.Value, got.Value)
		require.ElementsMatch(t, m.Headers, got.Headers)
		require.Equal(t, m.NotBefore.UnixMilli(), got.NotBefore.UnixMilli())
		require.NoError(t, got.Ack())
	}
}

func TestEachConsumerGetsAll(t *testing.T) {
	q := begin(t, t.TempDir(), Options{})
	push(t, q, "1", "2", "3")
	require.Equal(t, []string{"1", "2", "3"}, all(t, q, "a"))
	push(t, q, "4")
	require.Equal(t, []string{"1", "2", "3", "4"}, all(t, q, "b"))
	require.Equal(t, []string{"4"}, all(t, q, "a"))
	require.Equal(t, []string{"a", "b"}, q.Consumers())
}

// Workers of one consumer share its messages: each goes to one of them.
func TestWorkersShare(t *testing.T) {
	q := begin(t, t.TempDir(), Options{})
	const n = 5000
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	var mu sync.Mutex
	got := make(map[string]int)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for m, err := range q.Consume(ctx, "c") {
				if err != nil || m.Ack() != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if got[string(m.Value)]++; len(got) == n {
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	for g := range 4 {
		group.Go(func() {
			for i := range n / 4 {
				if _, err := q.Push(background, Message{Value: fmt.Appendf(nil, "%d:%d", g, i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	require.Len(t, got, n)
	for v, times := range got {
		require.Equal(t, 1, times, v)
	}
	depth, err := q.Depth("c")
	require.NoError(t, err)
	require.Zero(t, depth)
}

// fixed is a clock that a test moves.
type fixed struct{ now time.Time }

func (f *fixed) env() Env { return Env{Now: func() time.Time { return f.now }} }

func TestVisibility(t *testing.T) {
	clock := &fixed{time.UnixMilli(1e12)}
	q := begin(t, t.TempDir(), Options{Visibility: time.Minute, Env: clock.env()})
	push(t, q, "v")
	first, ok, err := q.TryNext("c")
	require.NoError(t, err)
	require.True(t, ok)
	clock.now = clock.now.Add(50 * time.Second)
	require.NoError(t, first.Extend())
	clock.now = clock.now.Add(59 * time.Second)
	_, ok, err = q.TryNext("c")
	require.NoError(t, err)
	require.False(t, ok)
	clock.now = clock.now.Add(time.Second)
	second, ok, err := q.TryNext("c")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, 2, second.Deliveries)
	require.ErrorIs(t, first.Ack(), ErrExpired)
	require.ErrorIs(t, first.Nack(0), ErrExpired)
	require.ErrorIs(t, first.Extend(), ErrExpired)
	clock.now = clock.now.Add(time.Hour)
	require.NoError(t, second.Ack(), "late, but nobody else has it")
	require.NoError(t, second.Ack(), "again")
	require.Empty(t, all(t, q, "c"))
	var stray Message
	require.Error(t, stray.Ack())
}

func TestOrderByKey(t *testing.T) {
	clock := &fixed{time.UnixMilli(1e12)}
	q := begin(t, t.TempDir(), Options{Order: ByKey, Env: clock.env()})
	for _, v := range []string{"a1", "a2", "b1", "a3", "b2"} {
		_, err := q.Push(background, Message{Key: []byte(v[:1]), Value: []byte(v)})
		require.NoError(t, err)
	}
	take := func() *Message {
		m, ok, err := q.TryNext("c")
		require.NoError(t, err)
		if !ok {
			return nil
		}
		return &m
	}
	a1, b1 := take(), take()
	require.Equal(t, "a1", string(a1.Value))
	require.Equal(t, "b1", string(b1.Value))
	require.Nil(t, take(), "the others wait for these")
	require.NoError(t, a1.Nack(time.Minute))
	require.NoError(t, b1.Ack())
	require.Equal(t, "b2", string(take().Value))
	require.Nil(t, take(), "a2 waits for a1, which is delayed")
	clock.now = clock.now.Add(time.Minute)
	for _, want := range []string{"a1", "a2", "a3"} {
		m := take()
		require.Equal(t, want, string(m.Value))
		require.NoError(t, m.Ack())
	}
}

func TestDeadLetters(t *testing.T) {
	dir := t.TempDir()
	q := begin(t, dir, Options{MaxDeliveries: 3})
	_, err := q.Push(background, Message{Key: []byte("k"), Value: []byte("poison"), Headers: []record.Header{{Key: "mine"}}})
	require.NoError(t, err)
	push(t, q, "fine")
	for i := range 3 {
		if i == 1 { // counted over a restart too
			require.NoError(t, q.Close())
			q = begin(t, dir, Options{MaxDeliveries: 3})
		}
		m, ok, err := q.TryNext("c")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, "poison", string(m.Value))
		require.Equal(t, i+1, m.Deliveries)
		require.NoError(t, m.Nack(0))
	}
	require.Equal(t, []string{"fine"}, all(t, q, "c"))
	dead, err := q.DeadLetters(background)
	require.NoError(t, err)
	m, ok, err := dead.TryNext("undertaker")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "poison", string(m.Value))
	require.Equal(t, "k", string(m.Key))
	require.Equal(t, []record.Header{{Key: "mine"}, {Key: DeadConsumer, Value: []byte("c")}, {Key: DeadOffset, Value: []byte("0")},
		{Key: DeadDeliveries, Value: []byte("3")}}, m.Headers)
}

// A message that kills the process is counted, although nobody says so.
func TestDeathCounts(t *testing.T) {
	m := newModel(t, 1)
	m.o.Order, m.o.MaxDeliveries = ByOffset, 3
	m.restart(m.mem.Kill(), false)
	push(t, m.q, "poison", "fine")
	for range 3 {
		msg, ok, err := m.q.TryNext("c")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, "poison", string(msg.Value))
		m.mem = m.mem.Kill()
		old := m.q
		m.open()
		_ = old.Close()
	}
	require.Equal(t, []string{"fine"}, all(t, m.q, "c"))
	require.NoError(t, m.q.Close())
}

func TestSeekPeekForget(t *testing.T) {
	clock := &fixed{time.UnixMilli(1e12)}
	q := begin(t, t.TempDir(), Options{Env: clock.env()})
	for i := range 10 {
		push(t, q, fmt.Sprint(i))
		clock.now = clock.now.Add(time.Second)
	}
	m, _, err := q.TryNext("c")
	require.NoError(t, err)
	second, _, err := q.TryNext("c")
	require.NoError(t, err)
	require.NoError(t, second.Ack())
	peeked, err := q.Peek("c", 3)
	require.NoError(t, err)
	require.Len(t, peeked, 3)
	require.Equal(t, "023", string(peeked[0].Value)+string(peeked[1].Value)+string(peeked[2].Value))
	require.Error(t, peeked[0].Ack())

	require.NoError(t, q.Seek("c", 8))
	require.NoError(t, m.Ack(), "it is not wanted any more")
	require.Equal(t, []string{"8", "9"}, all(t, q, "c"))
	require.NoError(t, q.SeekTime("c", time.UnixMilli(1e12).Add(6500*time.Millisecond)))
	require.Equal(t, []string{"7", "8", "9"}, all(t, q, "c"))
	require.NoError(t, q.Seek("c", -5))
	require.Len(t, all(t, q, "c"), 10)
	require.NoError(t, q.Seek("c", 1000))
	require.Empty(t, all(t, q, "c"))
	require.NoError(t, q.Forget("c"))
	require.NoError(t, q.Forget("c"))
	require.Empty(t, q.Consumers())
	require.Len(t, all(t, q, "c"), 10)
}

func TestWaiting(t *testing.T) {
	q := begin(t, t.TempDir(), Options{Visibility: 20 * time.Millisecond})
	got := make(chan Message)
	go func() {
		for m, err := range q.Consume(background, "c") {
			if err != nil {
				t.Error(err)
			}
			got <- m
		}
		close(got)
	}()
	push(t, q, "a")
	require.Equal(t, "a", string((<-got).Value))
	m := <-got // its time passed
	require.Equal(t, 2, m.Deliveries)
	require.NoError(t, m.Nack(0))
	m = <-got
	require.Equal(t, 3, m.Deliveries)
	require.NoError(t, m.Ack())
	_, err := q.Push(background, Message{Value: []byte("later"), NotBefore: time.Now().Add(20 * time.Millisecond)})
	require.NoError(t, err)
	m = <-got
	require.NoError(t, m.Ack())
	require.False(t, time.Now().Before(m.NotBefore))
	require.NoError(t, q.Close())
	_, open := <-got
	require.False(t, open, "Close ends the loop")
	_, err = q.Next(background, "c")
	require.ErrorIs(t, err, ErrClosed)
	_, err = q.Push(background, Message{})
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, q.Close(), ErrClosed)
	require.ErrorIs(t, m.Nack(0), ErrExpired)
}

func TestNextEndsWithItsContext(t *testing.T) {
	q := begin(t, t.TempDir(), Options{})
	ctx, cancel := context.WithTimeout(background, 10*time.Millisecond)
	defer cancel()
	_, err := q.Next(ctx, "c")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, _, err = NextOf(ctx, "c", q, q)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = q.Next(background, "")
	require.ErrorIs(t, err, ErrName)
}

func TestNextOfPrefersTheFirst(t *testing.T) {
	high, low := begin(t, t.TempDir(), Options{}), begin(t, t.TempDir(), Options{})
	push(t, low, "l1", "l2")
	push(t, high, "h1")
	var order []string
	for range 3 {
		m, i, err := NextOf(background, "c", high, low)
		require.NoError(t, err)
		order = append(order, fmt.Sprint(i, string(m.Value)))
		require.NoError(t, m.Ack())
		if len(order) == 2 {
			push(t, high, "h2")
		}
	}
	require.Equal(t, []string{"0h1", "1l1", "0h2"}, order)
	go push(t, low, "l3")
	for _, want := range []string{"l2", "l3"} {
		m, i, err := NextOf(background, "c", high, low)
		require.NoError(t, err)
		require.Equal(t, 1, i)
		require.Equal(t, want, string(m.Value))
		require.NoError(t, m.Ack())
	}
}

func TestOneProcess(t *testing.T) {
	dir := t.TempDir()
	begin(t, dir, Options{})
	_, err := Open(background, dir, Options{})
	require.ErrorIs(t, err, log.ErrLocked)
}

// The directory is an ordinary log, and its consumers' too.
func TestTheDirectoryIsALog(t *testing.T) {
	dir := t.TempDir()
	q := begin(t, dir, Options{})
	push(t, q, "a", "b")
	all(t, q, "c")
	require.NoError(t, q.Close())
	for _, d := range []string{dir, dir + "/" + placesDir} {
		l, err := log.Open(background, d, log.Options{})
		require.NoError(t, err)
		require.True(t, l.Recovery().Clean)
		require.Positive(t, l.End())
		require.NoError(t, l.Close())
	}
}

// Consumer state that is damaged is an error of Open, which says where.
func TestDamagedPlaces(t *testing.T) {
	dir := t.TempDir()
	q := begin(t, dir, Options{})
	push(t, q, "a")
	_, err := q.places.Append(record.Record{Key: placeKey("c"), Value: []byte("nonsense")})
	require.NoError(t, err)
	require.NoError(t, q.Close())
	_, err = Open(background, dir, Options{})
	require.ErrorIs(t, err, errPlace)
	_, err = os.Stat(dir)
	require.NoError(t, err)
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"Durability": {Durability: 2}, "Order": {Order: 2}, "Full": {Full: 3}, "negative": {MaxAge: -1},
		"MaxBytes": {MaxBytes: 100}, "SegmentBytes": {MaxBytes: 1 << 20, SegmentBytes: 1 << 20},
	} {
		_, err := Open(background, t.TempDir(), o)
		require.ErrorContains(t, err, name)
	}
}
