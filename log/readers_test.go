package log_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// TestPitfallO4: readers at full speed while segments roll, are dropped and
// truncated. They get records as they were appended, or one of the documented
// errors; Views keep their bytes. To be run with -race and -tags invariants.
func TestPitfallO4ReadersAgainstEverything(t *testing.T) {
	for name, dir := range map[string]string{"memory": "log", "disk": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			o := small()
			o.SegmentBytes, o.MappedSegments = 2<<10, 3
			if name == "memory" {
				o.Env.FS = vfs.NewMem()
			}
			l := open(t, dir, o)
			fill(t, l, 10)
			ctx, stop := context.WithTimeout(ctx, 700*time.Millisecond)
			defer stop()
			var reads, views atomic.Int64
			good := func(r record.Record, err error) {
				var at *log.OffsetError
				switch {
				case err == nil:
					if reads.Add(1); string(r.Value) != value(int(r.Offset)) {
						t.Errorf("offset %d has %q", r.Offset, r.Value)
					}
				case errors.Is(err, log.ErrTrimmed), errors.Is(err, log.ErrBeyond), errors.Is(err, log.ErrNoRecord):
					if !errors.As(err, &at) {
						t.Errorf("%T does not say where", err)
					}
				default:
					t.Errorf("%v", err)
				}
			}
			somewhere := func() int64 {
				first, end := l.First(), l.End()
				return max(first-2+rand.Int64N(max(end-first, 0)+4), 0)
			}
			loop := func(wg *sync.WaitGroup, do func()) {
				wg.Go(func() {
					for ctx.Err() == nil {
						do()
					}
				})
			}
			var wg sync.WaitGroup
			loop(&wg, func() {
				if _, err := l.Append(rec(value(int(l.End())))); err != nil {
					t.Error(err)
				}
				if rand.IntN(100) == 0 { // one goroutine, or values would not be their offsets
					if err := l.DropFrom(max(l.First(), l.End()-rand.Int64N(30))); err != nil && !errors.Is(err, log.ErrTrimmed) {
						t.Error(err)
					}
				}
			})
			loop(&wg, func() {
				time.Sleep(time.Millisecond)
				if err := l.DropBefore(max(l.End()-200, l.First())); err != nil && !errors.Is(err, log.ErrBeyond) {
					t.Error(err)
				}
			})
			loop(&wg, func() { good(l.Read(somewhere())) })
			loop(&wg, func() {
				at := int64(-1)
				for r, err := range l.From(somewhere()) {
					good(r, err)
					if err == nil && r.Offset <= at {
						t.Errorf("offset %d after %d", r.Offset, at)
					}
					at = r.Offset
				}
			})
			loop(&wg, func() {
				for r, err := range l.Tail(ctx, somewhere()) {
					if errors.Is(err, context.DeadlineExceeded) {
						return
					}
					good(r, err)
				}
			})
			loop(&wg, func() {
				v, err := l.Borrow(somewhere(), rand.Int64N(3000))
				if err != nil {
					if err != io.EOF {
						good(record.Record{}, err)
					}
					return
				}
				views.Add(1)
				defer v.Release()
				before := strings.Clone(string(v.Bytes()))
				time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
				if string(v.Bytes()) != before {
					t.Error("a View's bytes changed")
				}
				for b := range v.Batches() {
					if _, err := record.Parse(b.Bytes()); err != nil {
						t.Error(err)
					}
				}
			})
			loop(&wg, func() {
				if _, err := l.OffsetAt(time.UnixMilli(rand.Int64N(time.Now().UnixMilli() * 2))); err != nil {
					t.Error(err)
				}
				at := somewhere()
				if _, err := l.Explain(at); err != nil {
					good(record.Record{}, err)
				}
				if _, err := l.ExplainAt(time.Now()); err != nil {
					t.Error(err)
				}
				l.Segments()
				if s := l.Stats(); s.Durable > s.End+1000 {
					t.Error(s)
				}
			})
			wg.Wait()
			wantValues(t, l)
			assert.Zero(t, l.Stats().Pins)
			t.Logf("%d records and %d views of [%d, %d)", reads.Load(), views.Load(), l.First(), l.End())
			assert.Greater(t, reads.Load(), int64(1000))
		})
	}
}

// TestPublishedIsReadable: what is below End can be read, at once, by any way.
func TestPublishedIsReadable(t *testing.T) {
	// Relies on A14 (docs/ASSUMPTIONS.md).
	l, _, _ := inMem(t, log.Options{SegmentBytes: 4 << 10})
	fill(t, l, 1)
	done, stop := context.WithTimeout(ctx, 200*time.Millisecond)
	defer stop()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for done.Err() == nil {
				last := l.End() - 1
				r, err := l.Read(last)
				if err != nil || string(r.Value) != value(int(last)) {
					t.Errorf("Read(%d): %q, %v", last, r.Value, err)
				}
				last = l.End() - 1
				v, err := l.Borrow(last, 1)
				if err != nil {
					t.Errorf("Borrow(%d): %v", last, err)
					continue
				}
				v.Release()
			}
		})
	}
	for done.Err() == nil && l.End() < 20_000 {
		fill(t, l, 1)
	}
	stop()
	wg.Wait()
}

// TestPitfallO2: cold segments, no writer, many readers.
func TestPitfallO2ColdReaders(t *testing.T) {
	o := small()
	o.MappedSegments = 2
	o.Env.FS = vfs.NewMem()
	l := open(t, "log", o)
	fill(t, l, 60)
	closeLog(t, l)
	l = open(t, "log", o)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				at := rand.Int64N(60)
				r, err := l.Read(at)
				if assert.NoError(t, err) {
					assert.Equal(t, value(int(at)), string(r.Value))
				}
			}
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, l.Stats().Mapped, 2)
}

// TestPitfallP7: neither a View held for long nor one stuck in WriteTo
// (pitfall P8) is in the way of writers or readers.
func TestPitfallP7SlowView(t *testing.T) {
	l := open(t, t.TempDir(), small())
	fill(t, l, 10)
	v, err := l.Borrow(0, 1<<20)
	require.NoError(t, err)
	in, out := io.Pipe()
	written := make(chan int64)
	go func() {
		n, err := v.WriteTo(out)
		assert.NoError(t, err)
		v.Release()
		_ = out.Close()
		written <- n
	}()
	began, worst := time.Now(), time.Duration(0)
	for i := range 500 { // a hundred segments
		at := time.Now()
		fill(t, l, 1)
		_, err := l.Read(l.End() - 1)
		require.NoError(t, err)
		if i == 100 {
			require.NoError(t, l.DropBefore(50))
		}
		if i == 200 {
			require.NoError(t, l.DropFrom(60))
		}
		worst = max(worst, time.Since(at))
	}
	require.Equal(t, int64(0), v.Next()-5, "still held")
	t.Logf("500 appends in %v, the slowest %v", time.Since(began), worst)
	assert.Less(t, worst, 2*time.Second)
	wantValues(t, l)
	all, err := io.ReadAll(in)
	require.NoError(t, err)
	assert.Equal(t, int64(len(all)), <-written)
	for i := range 5 {
		b, err := record.Parse(all)
		require.NoError(t, err)
		assert.Equal(t, int64(i), b.BaseOffset)
		all = all[b.Size:]
	}
}
