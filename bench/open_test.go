package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seglog/seglog/bench/workload"
	"github.com/seglog/seglog/log"
)

// BenchmarkOpen opens a log of 1 GiB, which a process left that was killed
// while it appended, or closed it.
//
// With checkpoint=on the process had Maintain sync and note every 20 ms how far the
// log needs no more checking, and did not write faster than that; with off it has
// never synced.
func BenchmarkOpen(b *testing.B) {
	for _, checkpoint := range []string{"off", "on"} {
		b.Run("killed/checkpoint="+checkpoint, func(b *testing.B) {
			dir := ""
			workload.Opened(b, false, func(round int) string {
				_ = os.RemoveAll(dir)
				dir = filepath.Join(b.TempDir(), "killed")
				workload.Kill(b, "checkpoint="+checkpoint, dir, uint64(round))
				return dir
			}, func(dir string) (func() (int64, error), error) {
				l, err := log.Open(context.Background(), dir, log.Options{})
				if err == nil && l.Recovery().Clean {
					err = errors.New("the log was closed")
				}
				return func() (int64, error) {
					records, _, err := scanBorrowed(l)
					return records, errors.Join(err, l.Close())
				}, err
			})
		})
	}
	b.Run("clean", func(b *testing.B) {
		dir := b.TempDir()
		l := openIn(b, dir, log.Options{})
		fill(b, l, workload.OpenBytes()/1024, 64, 1024)
		reopen(b, dir, l, log.Options{})
	})
}

// BenchmarkOpenSegments opens and closes logs of many segments that were closed
// cleanly.
func BenchmarkOpenSegments(b *testing.B) {
	for _, segments := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("clean/segments=%d", segments), func(b *testing.B) {
			dir, o := b.TempDir(), log.Options{SegmentBytes: 16 << 10}
			l := openIn(b, dir, o)
			fillSegments(b, l, segments)
			reopen(b, dir, l, o)
		})
	}
}

func fillSegments(b *testing.B, l *log.Log, segments int) {
	b.Helper()
	for recs := batch(10, 1000); len(l.Segments()) < segments; {
		if _, err := l.Append(recs...); err != nil {
			b.Fatal(err)
		}
	}
}

func reopen(b *testing.B, dir string, l *log.Log, o log.Options) {
	b.Helper()
	end := l.End()
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		l, err := log.Open(context.Background(), dir, o)
		if err != nil {
			b.Fatal(err)
		}
		if !l.Recovery().Clean || l.End() != end {
			b.Fatal("not clean, or not as it was closed", l.End(), end)
		}
		b.StopTimer()
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// writers are what BenchmarkOpen kills, and what BenchmarkMemory lets write.
var writers = map[string]func(dir string, full func()) error{
	"segments":       writeSegments,
	"checkpoint=off": func(dir string, full func()) error { return writeOn(dir, false, full) },
	"checkpoint=on":  func(dir string, full func()) error { return writeOn(dir, true, full) },
}

func writeOn(dir string, checkpoint bool, full func()) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	l, err := log.Open(context.Background(), dir, log.Options{})
	if err != nil {
		return err
	}
	if checkpoint {
		go func() {
			fmt.Fprintln(os.Stderr, l.Maintain(context.Background(), log.Every{Sync: 20 * time.Millisecond}))
		}()
	}
	const unsynced = 32 << 20 / 1024 // records
	recs := batch(64, 1024)
	for told := false; ; {
		for checkpoint && l.End()-l.Durable() > unsynced {
			time.Sleep(100 * time.Microsecond)
		}
		if _, err := l.Append(recs...); err != nil {
			return err
		}
		if !told && l.End()*1024 >= int64(workload.OpenBytes()) {
			full()
			told = true
		}
	}
}
