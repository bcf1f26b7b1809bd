package queue

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/record"
)

const small = 128 << 10 // MaxBytes of these tests

// fill pushes messages of 1 KiB until an error.
func fill(t *testing.T, q *Queue, most int) (n int, err error) {
	t.Helper()
	for ; n < most; n++ {
		if _, err = q.Push(background, Message{Value: make([]byte, 1024)}); err != nil {
			return n, err
		}
		require.LessOrEqual(t, q.log.Stats().Bytes, int64(small))
	}
	return n, nil
}

func TestRefuse(t *testing.T) {
	q := begin(t, t.TempDir(), Options{MaxBytes: small})
	n, err := fill(t, q, 1000)
	require.ErrorIs(t, err, ErrFull)
	require.ErrorContains(t, err, "of 131072 bytes are taken")
	require.Greater(t, n, 100)
	end := q.log.End()
	_, err = q.Push(background, Message{Value: make([]byte, 2048)})
	require.ErrorIs(t, err, ErrFull)
	require.Equal(t, end, q.log.End())
	_, err = q.Push(background, Message{Value: make([]byte, small)})
	require.ErrorIs(t, err, record.ErrTooLarge)
	require.Len(t, all(t, q, "c"), n)
	more, err := fill(t, q, 50) // consumed segments make room
	require.NoError(t, err)
	require.Len(t, all(t, q, "c"), more)
}

// Without a consumer nothing is consumed: messages wait for the first one.
func TestNothingIsConsumedWithoutAConsumer(t *testing.T) {
	q := begin(t, t.TempDir(), Options{MaxBytes: small})
	n, err := fill(t, q, 1000)
	require.ErrorIs(t, err, ErrFull)
	dropped, err := q.dropConsumed()
	require.NoError(t, err)
	require.False(t, dropped)
	require.Len(t, all(t, q, "c"), n)
}

func TestBlock(t *testing.T) {
	q := begin(t, t.TempDir(), Options{MaxBytes: small, Full: Block})
	const n = 2000
	done := make(chan error)
	go func() {
		for i := range n {
			if _, err := q.Push(background, Message{Key: fmt.Append(nil, i), Value: make([]byte, 1024)}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for i := range n {
		m, err := q.Next(background, "c")
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(i), string(m.Key))
		require.NoError(t, m.Ack())
	}
	require.NoError(t, <-done)
	full, err := 0, error(nil)
	ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	for ; err == nil; full++ {
		_, err = q.Push(ctx, Message{Value: make([]byte, 1024)})
	}
	require.ErrorIs(t, err, context.DeadlineExceeded)
	go func() { done <- q.Close() }()
	for err = nil; err == nil; {
		_, err = q.Push(background, Message{Value: make([]byte, 1024)})
	}
	require.ErrorIs(t, err, ErrClosed)
	require.NoError(t, <-done)
}

func TestDropOldest(t *testing.T) {
	dir := t.TempDir()
	q := begin(t, dir, Options{MaxBytes: small, Full: DropOldest})
	push(t, q, "first", "second")
	m, _, err := q.TryNext("c")
	require.NoError(t, err)
	require.NoError(t, m.Ack())
	held, _, err := q.TryNext("c")
	require.NoError(t, err)
	const n = 1000
	_, err = fill(t, q, n)
	require.NoError(t, err)
	s, err := q.Stats("c")
	require.NoError(t, err)
	require.Equal(t, q.log.First()-1, s.Dropped, "all but the first, which was done")
	require.NoError(t, held.Ack(), "gone, but not wanted either")
	left := all(t, q, "c")
	require.EqualValues(t, n+2, s.Dropped+1+int64(len(left)))
	require.NoError(t, q.Close())
	q = begin(t, dir, Options{MaxBytes: small, Full: DropOldest})
	again, err := q.Stats("c")
	require.NoError(t, err)
	require.Equal(t, s.Dropped, again.Dropped)
	require.Zero(t, again.Depth)
}

func TestMaxAge(t *testing.T) {
	clock := &fixed{time.UnixMilli(1e12)}
	q, err := open(background, t.TempDir(), Options{MaxAge: time.Hour, Env: clock.env()})
	require.NoError(t, err)
	defer func() { require.NoError(t, q.Close()) }()
	push(t, q, "old", "old too")
	clock.now = clock.now.Add(50 * time.Minute)
	push(t, q, "young")
	clock.now = clock.now.Add(10 * time.Minute)
	require.NoError(t, q.dropAged())
	require.EqualValues(t, 0, q.log.First(), "an hour is not more than an hour")
	clock.now = clock.now.Add(time.Millisecond)
	require.NoError(t, q.dropAged())
	require.Equal(t, []string{"young"}, all(t, q, "c"))
	clock.now = clock.now.Add(2 * time.Hour)
	require.NoError(t, q.dropAged())
	require.EqualValues(t, q.log.End(), q.log.First())
}

// What is consumed leaves the disk, with no one asking.
func TestConsumedSegmentsGo(t *testing.T) {
	q := begin(t, t.TempDir(), Options{SegmentBytes: 16 << 10})
	for range 300 {
		_, err := q.Push(background, Message{Value: make([]byte, 1024)})
		require.NoError(t, err)
	}
	_, err := q.Stats("other")
	require.NoError(t, err)
	all(t, q, "c")
	require.NoError(t, q.Seek("other", 150))
	q.upkeep.nudge()
	wait := func(base int64) {
		require.NoError(t, q.room.Wait(background, func() bool { return q.log.Segments()[0].Base >= base }))
	}
	wait(150 - 16)
	require.LessOrEqual(t, q.log.First(), int64(150))
	all(t, q, "other")
	wait(280)
}

// The log of places stays small, however much is acknowledged.
func TestPlacesStayShort(t *testing.T) {
	q, err := open(background, t.TempDir(), Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, q.Close()) }()
	for range 100 {
		for range 1000 {
			push(t, q, "v")
		}
		require.Len(t, all(t, q, "c"), 1000)
		require.NoError(t, q.shortenPlaces(background))
	}
	require.Less(t, q.places.Stats().Bytes, int64((manyPlaces+1)*placesSegmentBytes))
	require.Greater(t, q.places.End(), int64(100_000))
}

// A queue that the disk has no room for says so, and goes on when it has.
func TestFullDisk(t *testing.T) {
	m := newModel(t, 5)
	m.mem.SetLimit(m.mem.Used() + 300<<10)
	n := 0
	for {
		_, err := m.q.Push(background, Message{Value: make([]byte, 1000)})
		if err != nil {
			require.True(t, errors.Is(err, syscall.ENOSPC), "%v", err)
			break
		}
		n++
	}
	var messages []Message
	for {
		msg, ok, err := m.q.TryNext("c")
		if err != nil || !ok {
			break
		}
		messages = append(messages, msg)
	}
	m.mem.SetLimit(0)
	for _, msg := range messages {
		require.NoError(t, msg.Ack())
	}
	require.Len(t, all(t, m.q, "c"), n-len(messages))
	_, err := m.q.Push(background, Message{})
	require.NoError(t, err)
	require.NoError(t, m.q.Close())
}
