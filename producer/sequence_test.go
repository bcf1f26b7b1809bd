package producer

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPlus(t *testing.T) {
	for _, c := range []struct{ sequence, n, want int32 }{
		{0, 1, 1}, {math.MaxInt32 - 1, 1, math.MaxInt32}, {math.MaxInt32, 1, 0}, {math.MaxInt32, math.MaxInt32, math.MaxInt32 - 1},
	} {
		require.Equal(t, c.want, plus(c.sequence, c.n))
	}
}

// Numbers go on over 2^31-1, batches that wait for a retry in order.
func TestSequencesWrap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1)
		p := begin(t, f, Options{BatchBytes: 200, Linger: NoLinger, MaxInFlight: 5})
		_, err := p.SendSync(background, value("first"))
		require.NoError(t, err)
		q := p.topic("t").known.Load().queues[0]
		q.sending.next = math.MaxInt32 - 1
		failing, expected := 3, q.sending.next
		var got []string
		f.mu.Lock()
		f.answer = func(a *asked) {
			if failing > 0 {
				failing--
				a.fail(ErrUnavailable)
				return
			}
			b := a.batch(t, 0)
			if b.BaseSequence != expected {
				a.fail(ErrOutOfOrderSequence)
				return
			}
			expected = plus(expected, 1)
			got = append(got, fmt.Sprintf("%d %s", b.BaseSequence, a.values(t)[0][:1]))
			a.stored()
		}
		f.mu.Unlock()
		for i := range 5 {
			p.Send(background, value(fmt.Sprintf("%d%0100d", i, 0)))
		}
		require.NoError(t, p.Flush(background))
		require.Equal(t, []string{"2147483646 0", "2147483647 1", "0 2", "1 3", "2 4"}, got)
	})
}

// What a log refused is followed by a new epoch, from 0.
func TestRefusedBatchRaisesTheEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, final := newFake(2), errors.New("refused")
		p := begin(t, f, Options{Linger: NoLinger})
		_, err := p.SendSync(background, value("a"))
		require.NoError(t, err)
		other(p)
		require.NoError(t, p.Flush(background))
		f.answer = func(a *asked) { a.fail(final) }
		_, err = p.SendSync(background, value("b"))
		require.ErrorIs(t, err, final)
		f.answer = nil
		_, err = p.SendSync(background, value("c"))
		require.NoError(t, err)
		other(p)
		require.NoError(t, p.Flush(background))
		var got []string
		for _, a := range f.got() {
			b := a.batch(t, 0)
			got = append(got, fmt.Sprintf("%d/%d:%d", a.Batches[0].Partition, b.ProducerEpoch, b.BaseSequence))
		}
		require.Equal(t, []string{"0/0:0", "1/0:0", "0/0:1", "0/1:0", "1/1:0"}, got)
		require.Equal(t, 1, f.ids)
	})
}

// After the last epoch comes another producer id.
func TestEpochsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, final := newFake(1), errors.New("refused")
		f.id.epoch = math.MaxInt16
		p := begin(t, f, Options{Linger: NoLinger})
		f.answer = func(a *asked) { a.fail(final) }
		_, err := p.SendSync(background, value("a"))
		require.ErrorIs(t, err, final)
		f.answer, f.id.epoch = nil, 0
		_, err = p.SendSync(background, value("b"))
		require.NoError(t, err)
		last := f.got()[1].batch(t, 0)
		require.EqualValues(t, 8, last.ProducerID)
		require.EqualValues(t, 0, last.ProducerEpoch)
		require.EqualValues(t, 0, last.BaseSequence)
	})
}

// Nothing new goes to a partition while it is not known whether a batch that
// timed out was stored; then in a new epoch, unless it was.
func TestUnresolvedSequence(t *testing.T) {
	for name, c := range map[string]struct {
		late func(*asked)
		want string // epoch and sequence of what comes next
	}{
		"stored after all": {(*asked).stored, "0:1"},
		"nobody knows":     {func(a *asked) { a.fail(ErrUnavailable) }, "1:0"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(1)
				f.answer = hold
				p := begin(t, f, Options{Linger: NoLinger, RequestTimeout: 9 * time.Second, DeliveryTimeout: 10 * time.Second})
				f.answer = func(a *asked) {
					f.answer = nil
					go func() { time.Sleep(20 * time.Second); c.late(a) }()
				}
				_, err := p.SendSync(background, value("a"))
				require.ErrorIs(t, err, ErrTimeout)
				next := p.Send(background, value("b"))
				time.Sleep(5 * time.Second)
				require.Len(t, f.got(), 1)
				_, err = next.Wait(background)
				if err != nil { // too late for itself
					require.ErrorIs(t, err, ErrTimeout)
					_, err = p.SendSync(background, value("c"))
				}
				require.NoError(t, err)
				b := f.got()[1].batch(t, 0)
				require.Equal(t, c.want, fmt.Sprintf("%d:%d", b.ProducerEpoch, b.BaseSequence))
			})
		})
	}
}

func TestNoProducerID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(1, 1, map[string]int{"t": 1})
		defer c.stop()
		c.idError = ErrUnavailable
		p := begin(t, c, Options{})
		future := p.Send(background, value("a"))
		time.Sleep(time.Minute)
		final := errors.New("not authorized")
		c.idError = final
		_, err := future.Wait(background)
		require.ErrorIs(t, err, final)
		c.idError = nil
		_, err = p.SendSync(background, value("b"))
		require.NoError(t, err)
	})
}

func TestDuplicateIsASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1)
		f.answer = func(a *asked) { a.fail(ErrDuplicateSequence) }
		p := begin(t, f, Options{})
		d, err := p.SendSync(background, value("a"))
		require.NoError(t, err)
		require.False(t, d.Stored)
	})
}

func TestCompareSequences(t *testing.T) {
	at := func(sequence int32) *batch { return &batch{sendState: sendState{numbered: true, sequence: sequence}} }
	for _, c := range []struct {
		a, b int32
		want int
	}{
		{0, 0, 0}, {0, 1, -1}, {7, 3, 1}, {math.MaxInt32, 0, -1}, {0, math.MaxInt32, 1}, {math.MaxInt32 - 5, 4, -1},
	} {
		require.Equal(t, c.want, at(c.a).compare(at(c.b)), "%d and %d", c.a, c.b)
	}
	require.Equal(t, 1, new(batch).compare(at(0)))
	require.Equal(t, -1, at(0).compare(new(batch)))
}
