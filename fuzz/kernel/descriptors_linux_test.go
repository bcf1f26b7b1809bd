package kernel

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seglog/seglog/fuzz/said"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention/compact"
)

const fewDescriptors = 64

// withFew limits this process to 64 descriptors while f runs.
func withFew(t *testing.T, f func()) {
	t.Helper()
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: fewDescriptors, Max: old.Max}))
	defer func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &old)) }()
	f()
}

func numbered(i int) record.Record {
	return record.Record{Key: fmt.Appendf(nil, "%d", i%9), Value: said.Value(said.ID{Batch: i, Count: 1}, 150)}
}

// descriptors is how many this process has open.
func descriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(open)
}

// readNumbered reads a log that numbered records were appended to.
func readNumbered(l *log.Log) error {
	at := l.First()
	for r, err := range l.From(at) {
		if err != nil {
			return err
		}
		id, err := said.Parse(r.Value)
		if err != nil {
			return err
		}
		if r.Offset != at || id.Batch != int(at) {
			return fmt.Errorf("offset %d has record %v, want %d", r.Offset, id, at)
		}
		at++
	}
	if at != l.End() {
		return fmt.Errorf("read up to %d of %d", at, l.End())
	}
	return nil
}

// TestManySegmentsFewDescriptors: 64 descriptors are enough for a log of two
// thousand segments, its readers and its upkeep.
func TestManySegmentsFewDescriptors(t *testing.T) {
	dir := inMemory(t) // 6,000 files
	o := log.Options{SegmentBytes: 512, MappedSegments: 20}
	withFew(t, func() {
		l, err := log.Open(ctx, dir, o)
		require.NoError(t, err)
		for i := range 4000 {
			_, err := l.Append(numbered(i))
			require.NoError(t, err)
			if i%40 == 0 {
				require.NoError(t, l.Sync(ctx)) // a sealed segment has its file open until it is durable
			}
		}
		require.Greater(t, len(l.Segments()), 1900)
		require.NoError(t, l.Close())

		l, err = log.Open(ctx, dir, o)
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := readNumbered(l); err != nil {
					t.Error(err)
				}
				if _, err := l.OffsetAt(time.Now()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		v, err := log.Verify(ctx, dir, o, nil)
		require.NoError(t, err)
		require.Empty(t, v.Faults)
		require.NoError(t, l.DropBefore(1000))
		require.NoError(t, l.DropFrom(3000))
		require.NoError(t, readNumbered(l))
		require.NoError(t, l.Close())
	})
}

// TestManyPartitionsFewDescriptors: with more partitions than there are
// descriptors for, the manager does not open, or sets those aside that do not;
// either way the error is EMFILE. With more descriptors all are there, unharmed.
func TestManyPartitionsFewDescriptors(t *testing.T) {
	const partitions = 60
	dir := inMemory(t)
	o := log.ManagerOptions{Log: log.Options{SegmentBytes: 2 << 10}}
	m, err := log.OpenManager(ctx, dir, o)
	require.NoError(t, err)
	for p := range partitions {
		l, err := m.Create(ctx, "topic-"+strconv.Itoa(p), log.TopicID{})
		require.NoError(t, err)
		for i := range 20 {
			_, err := l.Append(numbered(i))
			require.NoError(t, err)
		}
	}
	require.NoError(t, m.Close())
	before := descriptors(t)

	withFew(t, func() {
		m, err := log.OpenManager(ctx, dir, o)
		if err != nil {
			require.ErrorIs(t, err, syscall.EMFILE)
			return
		}
		aside := 0
		for _, p := range m.Partitions() {
			if p.Err != nil {
				require.ErrorIs(t, p.Err, syscall.EMFILE, p.Name)
				aside++
			} else if err := readNumbered(p.Log); err != nil {
				require.ErrorIs(t, err, syscall.EMFILE, p.Name)
			}
		}
		t.Logf("%d set aside", aside)
		require.NotZero(t, aside)
		if err := m.Close(); err != nil {
			require.ErrorIs(t, err, syscall.EMFILE)
		}
	})
	require.Equal(t, before, descriptors(t), "descriptors are left open")
	m, err = log.OpenManager(ctx, dir, o)
	require.NoError(t, err)
	require.Len(t, m.Partitions(), partitions)
	for _, p := range m.Partitions() {
		require.NoError(t, p.Err, p.Name)
		require.Equal(t, int64(20), p.Log.End())
		require.NoError(t, readNumbered(p.Log))
	}
	require.NoError(t, m.Close())
}

// TestEachDescriptorMissing: whatever is done while just so many descriptors are
// left, it works or fails with EMFILE, and nothing is lost by it.
func TestEachDescriptorMissing(t *testing.T) {
	ops := map[string]func(l *log.Log) error{
		"append over a roll": func(l *log.Log) error {
			for range 30 {
				if _, err := l.Append(numbered(int(l.End()))); err != nil {
					return err
				}
			}
			return nil
		},
		"sync":        func(l *log.Log) error { return l.Sync(ctx) },
		"read":        readNumbered,
		"drop before": func(l *log.Log) error { return l.DropBefore(l.First() + 20) },
		"drop from":   func(l *log.Log) error { return l.DropFrom(l.End() - 15) },
		"compact": func(l *log.Log) error {
			_, err := l.Compact(ctx)
			return err
		},
		"close": (*log.Log).Close,
	}
	for name, op := range ops {
		t.Run(name, func(t *testing.T) {
			failed := 0
			for left := range 6 {
				dir := filepath.Join(inMemory(t), "log")
				o := log.Options{SegmentBytes: 2 << 10, MappedSegments: 1}
				if name == "compact" {
					o.Compaction = &compact.Options{}
				}
				l, err := log.Open(ctx, dir, o)
				require.NoError(t, err)
				for i := range 80 {
					_, err := l.Append(numbered(i))
					require.NoError(t, err)
				}
				end := l.End()
				withFew(t, func() {
					var held []*os.File
					for {
						f, err := os.Open(os.DevNull)
						if err != nil {
							require.ErrorIs(t, err, syscall.EMFILE)
							break
						}
						held = append(held, f)
					}
					for range left {
						require.NoError(t, held[len(held)-1].Close())
						held = held[:len(held)-1]
					}
					err = op(l)
					for _, f := range held {
						require.NoError(t, f.Close())
					}
				})
				if err != nil {
					require.ErrorIs(t, err, syscall.EMFILE)
					failed++
				}
				if name != "compact" && !errors.Is(err, log.ErrFailed) && name != "close" {
					require.NoError(t, readNumbered(l))
				}
				if name == "append over a roll" {
					require.GreaterOrEqual(t, l.End(), end)
					end = l.End()
				}
				_ = l.Close() // again, perhaps
				l, err = log.Open(ctx, dir, o)
				require.NoError(t, err, "%d left", left)
				if name == "drop from" {
					require.Contains(t, []int64{end, end - 15}, l.End())
				} else {
					require.Equal(t, end, l.End())
				}
				if name != "compact" {
					require.NoError(t, readNumbered(l))
				}
				require.NoError(t, l.Close())
			}
			t.Logf("failed %d times", failed)
		})
	}
}
