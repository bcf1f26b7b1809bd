package producer

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// When a batch is ready: each case sends a record at time 0 and says when the
// request arrives.
func TestReady(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		then func(p *Producer)
		want time.Duration
	}{
		"lingered":     {Options{Linger: 30 * time.Millisecond}, nil, 30 * time.Millisecond},
		"by default":   {Options{}, nil, 5 * time.Millisecond},
		"without":      {Options{Linger: NoLinger}, nil, NoLinger},
		"flushing":     {Options{Linger: time.Second}, func(p *Producer) { _ = p.Flush(background) }, 0},
		"closing":      {Options{Linger: time.Second}, func(p *Producer) { _ = p.Close(background) }, 0},
		"full":         {Options{Linger: time.Second, BatchBytes: 120}, func(p *Producer) { p.Send(background, value(strings.Repeat("x", 50))) }, 0},
		"memory short": {Options{Linger: time.Second, BatchBytes: 120, BufferBytes: 120}, func(p *Producer) { other(p) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(2)
				p := begin(t, f, c.o)
				began := time.Now()
				p.Send(background, value("first"))
				if c.then != nil {
					c.then(p)
				}
				time.Sleep(500 * time.Millisecond)
				synctest.Wait()
				require.NotEmpty(t, f.got())
				require.Equal(t, c.want, f.got()[0].at.Sub(began))
				require.Equal(t, "first", f.got()[0].values(t)[0])
			})
		})
	}
}

// other sends to the other partition.
func other(p *Producer) {
	r := value("other")
	r.Partition = At(1)
	p.Send(background, r)
}

// Retried batches wait for their backoff, and for nothing when another node
// leads.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1)
		f.answer = func(a *asked) { a.fail(ErrUnavailable) }
		p := begin(t, f, Options{Linger: NoLinger, DeliveryTimeout: time.Minute, RequestTimeout: time.Second})
		future := p.Send(background, value("v"))
		_, err := future.Wait(background)
		require.ErrorIs(t, err, ErrTimeout)
		got := f.got()
		for i, want := range []time.Duration{100, 200, 400, 800, 1000, 1000, 1000} {
			waited := got[i+1].at.Sub(got[i].at)
			want *= time.Millisecond
			require.InDelta(t, want, waited, float64(want)/5+1, "between attempts %d and %d", i+1, i+2)
		}
	})
}

func TestNewLeaderIsTriedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1)
		moved := false
		f.answer = func(a *asked) {
			if a.node == 0 && moved {
				f.mu.Lock()
				f.partitions = []PartitionInfo{{Leader: 1}}
				f.mu.Unlock()
				a.fail(ErrNotLeader)
				return
			}
			a.stored()
		}
		f.topic = func(string) ([]PartitionInfo, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.partitions, nil
		}
		p := begin(t, f, Options{Linger: NoLinger, RetryBackoff: time.Minute})
		_, err := p.SendSync(background, value("v"))
		require.NoError(t, err)
		time.Sleep(2 * time.Minute) // longer than the pause between two looks at the metadata
		moved = true
		began := time.Now()
		_, err = p.SendSync(background, value("v"))
		require.NoError(t, err)
		require.Equal(t, NoLinger, time.Since(began))
	})
}

func TestDeliveryTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(*asked)
		text   string
	}{
		"no leader": {nil, "not sent in 10s"},
		"no answer": {hold, "it may have been stored"},
		"try again": {func(a *asked) { a.fail(ErrUnavailable) }, "it may have been stored"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(1)
				f.partitions[0].Leaderless = c.answer == nil
				f.answer = c.answer
				p := begin(t, f, Options{RequestTimeout: 8 * time.Second, DeliveryTimeout: 10 * time.Second})
				began := time.Now()
				_, err := p.SendSync(background, value("v"))
				require.ErrorIs(t, err, ErrTimeout)
				require.ErrorContains(t, err, c.text)
				require.Equal(t, 10*time.Second, time.Since(began))
			})
		})
	}
}
