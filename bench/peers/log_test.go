package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seglog/seglog/bench/workload"
)

func TestMain(m *testing.M) {
	code := workload.Main(m, writers())
	if err := discard(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// each runs f for every engine that it is not refused for, as peer=NAME.
func each(b *testing.B, refused func(Engine) bool, f func(b *testing.B, e Engine)) {
	for _, e := range Engines {
		if refused == nil || !refused(e) {
			b.Run("peer="+e.Name, func(b *testing.B) { f(b, e) })
		}
	}
}

func open(b *testing.B, e Engine, dir string, s Setting) Log {
	b.Helper()
	l, err := e.Open(dir, s)
	if err != nil {
		b.Fatal(err)
	}
	return l
}

// store is an engine as the workloads of appending see it. It recycles by opening
// a new log.
func store(b *testing.B, e Engine, below string, s Setting, values [][]byte) workload.Store {
	b.Helper()
	round := 0
	dir := func() string { return filepath.Join(below, fmt.Sprint(round)) }
	l := open(b, e, dir(), s)
	appends := l.Appender(values)
	b.Cleanup(func() { _ = l.Close() })
	return workload.Store{
		Append: func() error { return appends() },
		Recycle: func() (err error) {
			if err = errors.Join(l.Close(), os.RemoveAll(dir())); err != nil {
				return err
			}
			round++
			if l, err = e.Open(dir(), s); err == nil {
				appends = l.Appender(values)
			}
			return err
		},
		Held:  func() (int64, error) { return held(l) },
		Count: len(values),
		Size:  len(values[0]),
	}
}

func BenchmarkAppend(b *testing.B) {
	each(b, nil, func(b *testing.B, e Engine) {
		for _, bytes := range []int{100, 1 << 10, 16 << 10} {
			for _, count := range []int{1, 100} {
				b.Run(fmt.Sprintf("%s/batch=%d/sync=none", workload.Size(bytes), count), func(b *testing.B) {
					workload.Append(b, store(b, e, b.TempDir(), Setting{}, workload.Values(count, bytes)))
				})
			}
		}
	})
}

func BenchmarkAppendParallel(b *testing.B) {
	each(b, nil, func(b *testing.B, e Engine) {
		for _, writers := range []int{2, 8} {
			b.Run(fmt.Sprintf("100B/writers=%d", writers), func(b *testing.B) {
				s := store(b, e, b.TempDir(), Setting{Writers: writers}, workload.Values(1, 100))
				workload.AppendParallel(b, s, writers, false)
			})
		}
	})
}

func BenchmarkAppendSync(b *testing.B) {
	each(b, func(e Engine) bool { return e.NoDurable }, func(b *testing.B, e Engine) {
		for _, writers := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("100B/writers=%d", writers), func(b *testing.B) {
				s := store(b, e, b.TempDir(), Setting{Durable: true, Writers: writers}, workload.Values(1, 100))
				workload.AppendParallel(b, s, writers, true)
			})
		}
	})
}

func BenchmarkAppendSyncJournaled(b *testing.B) {
	each(b, func(e Engine) bool { return e.NoDurable }, func(b *testing.B, e Engine) {
		b.Run("4KiB/writers=1", func(b *testing.B) {
			s := store(b, e, workload.Journaled(b), Setting{Durable: true}, workload.Values(1, 4<<10))
			workload.AppendParallel(b, s, 1, true)
		})
	})
}

// BenchmarkAppendCompressed uses the codec that the engine has.
func BenchmarkAppendCompressed(b *testing.B) {
	each(b, func(e Engine) bool { return e.Codec == "" }, func(b *testing.B, e Engine) {
		b.Run("1KiB/batch=100/codec="+e.Codec, func(b *testing.B) {
			workload.Append(b, store(b, e, b.TempDir(), Setting{Compressed: true}, workload.Texts(100, 1<<10)))
		})
	})
}

// BenchmarkScan is of records that were appended 100 at once: to the peers that
// is the same as one by one.
func BenchmarkScan(b *testing.B) {
	each(b, func(e Engine) bool { return e.Consumes }, func(b *testing.B, e Engine) {
		b.Run("100B/batch=100/owned", func(b *testing.B) { scan(b, e, func(each func([]byte)) func([]byte) { return own(e.Lends, each) }) })
		if e.Lends {
			b.Run("100B/batch=100/borrowed", func(b *testing.B) { scan(b, e, func(each func([]byte)) func([]byte) { return each }) })
		}
	})
}

func scan(b *testing.B, e Engine, as func(func([]byte)) func([]byte)) {
	l := filled(b, e)
	workload.Scan(b, 100, func() (records, size int64, err error) {
		err = l.Scan(as(func(value []byte) { records++; size += int64(len(value)) }))
		return records, size, err
	})
}

// kept is the log that filled has made, which takes some engines seconds.
var kept struct {
	engine string
	dir    string
	log    Log
}

// filled is a log of Records records, to be read only.
func filled(b *testing.B, e Engine) Log {
	b.Helper()
	if kept.engine == e.Name {
		return kept.log
	}
	if err := discard(); err != nil {
		b.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "filled")
	if err != nil {
		b.Fatal(err)
	}
	l := open(b, e, dir, Setting{})
	kept.engine, kept.dir, kept.log = e.Name, dir, l
	if err := fill(l, workload.Records(), workload.Values(100, 100)); err != nil {
		b.Fatal(err)
	}
	return l
}

func discard() error {
	if kept.log == nil {
		return nil
	}
	err := errors.Join(kept.log.Close(), os.RemoveAll(kept.dir))
	kept.engine, kept.log = "", nil
	return err
}

func lacks[T any](e Engine) bool {
	_, has := e.zero.(T)
	return !has
}

func BenchmarkRead(b *testing.B) {
	each(b, lacks[Getter], func(b *testing.B, e Engine) {
		workload.Read(b, 100, filled(b, e).(Getter).Get)
	})
}

func BenchmarkOffsetAt(b *testing.B) {
	each(b, lacks[Timed], func(b *testing.B, e Engine) {
		l := open(b, e, b.TempDir(), Setting{})
		b.Cleanup(func() { _ = l.Close() })
		timed, value := l.(Timed), workload.Payload(100)
		at := func(i int) time.Time { return workload.Clock.Add(time.Duration(i) * time.Millisecond) }
		for i := range workload.Records() {
			if err := timed.AppendAt(at(i), value); err != nil {
				b.Fatal(err)
			}
		}
		workload.ReadAt(b, func(i int64) (int64, error) { return timed.At(at(int(i))) })
	})
}

func BenchmarkTail(b *testing.B) {
	each(b, lacks[Tailer], func(b *testing.B, e Engine) {
		l := open(b, e, b.TempDir(), Setting{})
		b.Cleanup(func() { _ = l.Close() })
		ctx, cancel := context.WithCancel(context.Background())
		received, ready, ended := make(chan time.Time, 1), make(chan struct{}), make(chan error, 1)
		go func() {
			ended <- l.(Tailer).Tail(ctx, ready, func([]byte) { received <- time.Now() })
		}()
		select {
		case <-ready:
		case err := <-ended:
			b.Fatal(err)
		}
		workload.Woken(b, l.Appender(workload.Values(1, 100)), received)
		cancel()
		<-ended
	})
}

// BenchmarkOpen opens what a process left that was killed, which is then closed
// and opened again.
func BenchmarkOpen(b *testing.B) {
	each(b, func(e Engine) bool { return e.NoReopen }, func(b *testing.B, e Engine) {
		dir := ""
		kill := func(round int) string {
			if dir != "" {
				_ = os.RemoveAll(dir)
			}
			dir = filepath.Join(b.TempDir(), "killed")
			workload.Kill(b, e.Name, dir, uint64(round))
			return dir
		}
		opened := func(dir string) (func() (int64, error), error) {
			l, err := e.Open(dir, Setting{})
			return func() (int64, error) {
				n, err := held(l)
				return n, errors.Join(err, l.Close())
			}, err
		}
		b.Run("killed/checkpoint=off", func(b *testing.B) { workload.Opened(b, e.LosesOnKill, kill, opened) })
		b.Run("clean", func(b *testing.B) {
			if dir == "" {
				held, err := opened(kill(0))
				if err == nil {
					_, err = held()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				l := open(b, e, dir, Setting{})
				b.StopTimer()
				if err := l.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	})
}

// writers are the engines that BenchmarkOpen kills, and that BenchmarkMemory lets
// write.
func writers() map[string]func(dir string, full func()) error {
	all := make(map[string]func(dir string, full func()) error)
	for _, e := range Engines {
		all["segments of "+e.Name] = func(dir string, _ func()) error {
			l, err := e.Open(dir, Setting{SegmentBytes: workload.SmallSegment})
			if err != nil {
				return err
			}
			return errors.Join(fill(l, segmented(), workload.Values(50, 100)), l.Close())
		}
		all[e.Name] = func(dir string, full func()) error {
			l, err := e.Open(dir, Setting{})
			if err != nil {
				return err
			}
			appends := l.Appender(workload.Values(64, 1024))
			for n := 0; ; n += 64 * 1024 {
				if n == workload.OpenBytes() {
					full()
				}
				if err := appends(); err != nil {
					return err
				}
			}
		}
	}
	return all
}

// segmented is how many records of 100 bytes are Segments segments.
func segmented() int { return workload.Segments() * workload.SmallSegment / 125 / 50 * 50 }

func BenchmarkMemory(b *testing.B) {
	each(b, func(e Engine) bool { return e.NoReopen || e.Consumes }, func(b *testing.B, e Engine) {
		b.Run("segments=1000", func(b *testing.B) {
			dir, total := b.TempDir(), segmented()
			workload.Build(b, "segments of "+e.Name, dir)
			var l Log
			workload.Memory(b, func() (any, error) {
				l = open(b, e, dir, Setting{SegmentBytes: workload.SmallSegment})
				n, _, err := count(l)
				if n != int64(total) {
					err = errors.Join(err, fmt.Errorf("%d records of %d", n, total))
				}
				return l, err
			})
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
		})
	})
}

func BenchmarkDisk(b *testing.B) {
	each(b, nil, func(b *testing.B, e Engine) {
		b.Run("100B/batch=100", func(b *testing.B) {
			dir := b.TempDir()
			for i := range b.N {
				if i > 0 {
					continue // it is not time that is measured
				}
				l := open(b, e, dir, Setting{})
				if err := errors.Join(fill(l, workload.Records(), workload.Values(100, 100)), l.Close()); err != nil {
					b.Fatal(err)
				}
			}
			workload.Disk(b, dir, workload.Records(), 100)
		})
	})
}
