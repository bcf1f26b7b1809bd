//go:build unix

package kernel

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/fuzz/said"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// compete opens a log again and again, of which others want the same, and
// appends a little whenever it gets it: directory, number of this process. It
// says what it appended, and that it had to wait:
//
//	a <process> <batch> <first> <count>
//	locked
func compete(args []string) error {
	me, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	for batch := 0; ; {
		l, err := log.Open(ctx, args[0], log.Options{SegmentBytes: 4 << 10})
		if errors.Is(err, log.ErrLocked) {
			say("locked")
			time.Sleep(time.Duration(rand.IntN(500)) * time.Microsecond)
			continue
		}
		if err != nil {
			return err
		}
		for range 1 + rand.IntN(5) {
			end := l.End()
			first, err := l.Append(record.Record{Value: said.Value(said.ID{Writer: me, Batch: batch, Count: 1}, 100)})
			if err != nil {
				return err
			}
			if first != end {
				return fmt.Errorf("appended at %d of a log that ended at %d", first, end)
			}
			say("a %d %d %d 1", me, batch, first)
			batch++
		}
		if rand.IntN(4) > 0 {
			err = l.Close()
		} else {
			err = errors.Join(l.Sync(ctx), l.Close())
		}
		if err != nil {
			return err
		}
	}
}

// TestCompete: several processes want one directory, and some are killed while
// they have it. One has it at a time, the others are told so, and everything
// that any of them appended is there, in order, once.
func TestCompete(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	h := said.NewHistory(false, true)
	require.NoError(t, h.Hear(0, "open 0 0 false"))
	require.NoError(t, h.Hear(0, fmt.Sprintf("h 0 %x", said.NewDigest().Sum())))
	require.NoError(t, h.Hear(0, "ready"))
	locked, writer := 0, 0
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range *rounds {
				mu.Lock()
				me := writer
				writer++
				mu.Unlock()
				c := start(t, "compete", dir, strconv.Itoa(me))
				left := 20 + rand.IntN(100)
				for line := range c.lines {
					mu.Lock()
					if line == "locked" {
						locked++
					} else if err := h.Hear(0, line); err != nil {
						t.Errorf("%v", err)
						left = 0
					}
					mu.Unlock()
					if left--; left <= 0 {
						c.kill()
					}
				}
				c.wait()
			}
		})
	}
	wg.Wait()
	require.NotZero(t, locked, "nobody ever had to wait")

	l, err := log.Open(ctx, dir, log.Options{})
	require.NoError(t, err)
	h.Booted()
	require.NoError(t, h.Hear(1, fmt.Sprintf("open %d %d false", l.First(), l.End())))
	require.NoError(t, h.Hear(1, fmt.Sprintf("h 0 %x", said.NewDigest().Sum())))
	for r, err := range l.From(0) {
		require.NoError(t, err)
		id, err := said.Parse(r.Value)
		require.NoError(t, err)
		require.NoError(t, h.Hear(1, fmt.Sprintf("r %d %v", r.Offset, id)))
	}
	require.NoError(t, h.Hear(1, "ready"))
	t.Logf("%d processes, locked out %d times, %d records", writer, locked, l.End())
	require.NoError(t, l.Close())
}
