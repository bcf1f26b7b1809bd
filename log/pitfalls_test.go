package log_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/testkit"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention"
)

// Pitfalls that are about a whole log, each in a few lines; those that need more
// are in the files of what they are about. docs/PITFALLS.md has them all.

func onto(m vfs.FS) log.Options {
	o := small()
	o.Env.FS = m
	return o
}

// filled is a log in memory of n values, closed.
func filled(t *testing.T, n int) *vfs.Mem {
	t.Helper()
	m := vfs.NewMem()
	l := open(t, "log", onto(m))
	fill(t, l, n)
	closeLog(t, l)
	return m
}

const firstLog, firstIndex = "log/00000000000000000000.log", "log/00000000000000000000.index"

// TestPitfallT8HugeLength: a length read from disk allocates nothing before it
// is checked.
func TestPitfallT8HugeLength(t *testing.T) {
	m := vfs.NewMem()
	l := open(t, "log", onto(m))
	fill(t, l, 3)
	size := l.Segments()[0].Bytes
	m = m.Crash(1)
	_ = l.Close()
	b, err := vfs.ReadFile(m, firstLog)
	require.NoError(t, err)
	if int64(len(b)) < size { // the crash took some of it
		b = append(b, make([]byte, size-int64(len(b)))...)
	}
	header := make([]byte, record.HeaderSize)
	copy(header[8:], []byte{0x7f, 0xff, 0xff, 0xff}) // a batch of 2 GiB
	header[16] = 2
	require.NoError(t, vfs.WriteFile(m, firstLog, append(b[:size:size], header...)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l = open(t, "log", onto(m))
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
	fill(t, l, 1)
}

// TestPitfallT11AnySectors: whatever part of what was not synced survives, what
// is there is whole batches, in order, from the first on.
func TestPitfallT11AnySectors(t *testing.T) {
	// Relies on A7 (docs/ASSUMPTIONS.md).
	m := vfs.NewMem()
	l := open(t, "log", onto(m))
	fill(t, l, 4)
	require.NoError(t, l.Sync(ctx))
	fill(t, l, 11)
	for seed := range uint64(60) {
		after := open(t, "log", onto(m.Crash(seed)))
		require.GreaterOrEqual(t, after.End(), int64(4))
		wantValues(t, after)
		fill(t, after, 2)
		wantValues(t, after)
		closeLog(t, after)
	}
}

// TestPitfallT14BatchIsAtomic: of a batch that lost any of its bytes nothing is
// read.
func TestPitfallT14BatchIsAtomic(t *testing.T) {
	m := vfs.NewMem()
	l := open(t, "log", log.Options{SegmentBytes: 64 << 10, Env: log.Env{FS: m}})
	fill(t, l, 1)
	require.NoError(t, l.Sync(ctx))
	begin := l.Segments()[0].Bytes
	_, err := l.Append(rec("a"), rec("b"), rec("c"), rec("d"), rec("e"))
	require.NoError(t, err)
	end := l.Segments()[0].Bytes
	whole, err := vfs.ReadFile(m, firstLog)
	require.NoError(t, err)
	dead := m.Crash(1)
	_ = l.Close()
	for at := begin; at < end; at++ {
		world := dead.Fork()
		torn := append([]byte(nil), whole[:end]...)
		torn[at] ^= 0x55
		require.NoError(t, vfs.WriteFile(world, firstLog, torn))
		after := open(t, "log", log.Options{SegmentBytes: 64 << 10, Env: log.Env{FS: world}})
		n := 0
		for r, err := range after.From(0) {
			require.NoError(t, err)
			require.True(t, r.Offset == 0 || at < begin+16, "byte %d: offset %d", at-begin, r.Offset)
			n++
		}
		require.Contains(t, []int{1, 6}, n, "all of a batch or nothing; the leader epoch is in no checksum")
		closeLog(t, after)
	}
}

// TestPitfallT18TornEachTime: a tear at each of ten restarts is one repair each,
// and none at the next open.
func TestPitfallT18TornEachTime(t *testing.T) {
	m := vfs.NewMem()
	l := open(t, "log", onto(m))
	fill(t, l, 2)
	require.NoError(t, l.Sync(ctx))
	for restart := range uint64(10) {
		fill(t, l, 3)
		m = m.Crash(restart)
		_ = l.Close()
		l = open(t, "log", onto(m))
		require.LessOrEqual(t, len(l.Recovery().Actions), 8, "%v", l.Recovery().Actions)
		wantValues(t, l)
		require.NoError(t, l.Close())
		l = open(t, "log", onto(m))
		require.Empty(t, l.Recovery().Actions)
	}
}

// TestPitfallM1RandomIndex: an index of random bytes is derived again.
func TestPitfallM1RandomIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 30 {
		m := filled(t, 30)
		noise := make([]byte, r.IntN(200))
		for i := range noise {
			noise[i] = byte(r.Uint32())
		}
		require.NoError(t, vfs.WriteFile(m, firstIndex, noise))
		l := open(t, "log", onto(m))
		wantValues(t, l)
		for i := range int64(30) {
			got, err := l.Read(i)
			require.NoError(t, err)
			require.Equal(t, value(int(i)), string(got.Value))
		}
		closeLog(t, l)
	}
}

// TestPitfallP2EntriesOutOfTheFile: an index entry that points behind the log,
// or into a batch, is not followed.
func TestPitfallP2EntriesOutOfTheFile(t *testing.T) {
	for _, position := range []uint32{1, 1 << 10, 1 << 30, 1<<32 - 1} {
		m := filled(t, 12)
		entry := []byte{0, 0, 0, 2, byte(position >> 24), byte(position >> 16), byte(position >> 8), byte(position)}
		require.NoError(t, vfs.WriteFile(m, firstIndex, entry))
		l := open(t, "log", onto(m))
		for i := range int64(12) {
			_, err := l.Read(i)
			require.NoError(t, err)
		}
		closeLog(t, l)
	}
}

// TestPitfallM8StatsAreCounted: figures are what the files say, whatever was
// recovered, and segments ascend (pitfall M13).
func TestPitfallM8StatsAreCounted(t *testing.T) {
	m := vfs.NewMem()
	l := open(t, "log", onto(m))
	fill(t, l, 23)
	require.NoError(t, l.DropBefore(7))
	for seed := range uint64(20) {
		world := m.Crash(seed)
		after := open(t, "log", onto(world))
		s, bytes, last := after.Stats(), int64(0), int64(-1)
		for _, info := range after.Segments() {
			require.Greater(t, info.Base, last)
			last = max(info.Base, info.Next-1)
			whole, err := vfs.ReadFile(world, info.Path)
			require.NoError(t, err)
			counted := int64(0)
			for rest := whole; len(rest) > 0; {
				b, err := record.Parse(rest)
				if err != nil {
					break // room that is reserved
				}
				counted, rest = counted+int64(b.Size), rest[b.Size:]
			}
			require.Equal(t, counted, info.Bytes)
			bytes += counted
		}
		require.Equal(t, bytes, s.Bytes)
		closeLog(t, after)
	}
}

// TestPitfallD3EmptyLeftovers: files of length zero under the names of every
// file that is made are of no account.
func TestPitfallD3EmptyLeftovers(t *testing.T) {
	m := filled(t, 12)
	for _, name := range []string{"seglog.checkpoint.tmp", "leader-epoch-checkpoint.tmp", "00000000000000000000.index.tmp",
		"00000000000000000012.snapshot.tmp", "00000000000000000000.log.cleaned", "00000000000000000005.log.deleted"} {
		require.NoError(t, vfs.WriteFile(m, "log/"+name, nil))
	}
	l := open(t, "log", onto(m))
	wantValues(t, l)
	fill(t, l, 1)
	closeLog(t, l)
	for _, name := range names(t, m, "log") {
		require.NotContains(t, name, ".tmp")
		require.NotContains(t, name, ".cleaned")
	}
}

// TestPitfallD6LimitsAfterRecovery: a limit by size goes by the files that are
// there, whatever state was lost.
func TestPitfallD6LimitsAfterRecovery(t *testing.T) {
	m := filled(t, 60)
	require.NoError(t, m.Remove("log/seglog.checkpoint"))
	o := onto(m)
	o.Retention = retention.MaxBytes(2000)
	l := open(t, "log", o)
	_, err := l.Retain(ctx)
	require.NoError(t, err)
	require.Positive(t, l.First())
	require.Less(t, l.Stats().Bytes, int64(2000+1024))
	require.GreaterOrEqual(t, l.Stats().Bytes, int64(2000))
	wantValues(t, l)
}

// TestPitfallD7NoRoomForAnotherOne: a log larger than the free space opens.
func TestPitfallD7NoRoomForAnotherOne(t *testing.T) {
	m := filled(t, 60)
	m.SetLimit(m.Used() + 512)
	l := open(t, "log", onto(m))
	wantValues(t, l)
	m.SetLimit(0)
}

// TestPitfallD2DurableOutlivesAFullDisk: the disk fills up, the power goes, there is
// more room: the log opens, has all that was durable, and goes on.
func TestPitfallD2DurableOutlivesAFullDisk(t *testing.T) {
	for seed := range uint64(12) {
		m := vfs.NewMem()
		l := open(t, "log", onto(m))
		fill(t, l, 3)
		m.SetLimit(m.Used() + 1024*int64(seed))
		var err error
		for err == nil {
			_, err = l.AppendSync(ctx, rec(value(int(l.End()))))
		}
		require.ErrorIs(t, err, syscall.ENOSPC)
		durable := l.Durable()
		after := m.Crash(seed)
		after.SetLimit(0) // pitfall D9: the disk was made larger
		again := open(t, "log", onto(after))
		require.GreaterOrEqual(t, again.End(), durable)
		wantValues(t, again)
		fill(t, again, 5)
		closeLog(t, again)
		m.SetLimit(0)
		_ = l.Close()
	}
}

// TestPitfallF8TwoWatermarks: what is written and what is durable are told apart.
func TestPitfallF8TwoWatermarks(t *testing.T) {
	l, _, _ := inMem(t, log.Options{})
	_, err := l.AppendSync(ctx, rec("a"))
	require.NoError(t, err)
	_, err = l.Append(rec("b"))
	require.NoError(t, err)
	require.Equal(t, int64(2), l.End())
	require.Equal(t, int64(1), l.Durable())
}

// TestPitfallF10SlowDevice: a hook is told how long a sync took and how many
// waited for it.
func TestPitfallF10SlowDevice(t *testing.T) {
	var events []log.SyncEvent
	faulty := vfs.NewFaulty(vfs.NewMem())
	slow(faulty, 5*time.Millisecond)
	o := log.Options{SegmentBytes: 64 << 10, Env: log.Env{FS: faulty}, Trace: log.Trace{Synced: func(e log.SyncEvent) { events = append(events, e) }}}
	l := open(t, "log", o)
	_, err := l.AppendSync(ctx, rec("x"))
	require.NoError(t, err)
	last := events[len(events)-1]
	require.GreaterOrEqual(t, last.Took, 5*time.Millisecond)
	require.Equal(t, 1, last.Waiters)
	require.Equal(t, int64(1), last.Durable)
}

// TestPitfallP8StuckPeer: a peer that takes nothing holds up nobody but itself.
func TestPitfallP8StuckPeer(t *testing.T) {
	l, _, _ := inMem(t, small())
	fill(t, l, 10)
	v, err := l.Borrow(0, 1<<20)
	require.NoError(t, err)
	in, out := io.Pipe()
	stuck := make(chan struct{})
	go func() {
		defer close(stuck)
		_, _ = v.WriteTo(out)
		v.Release()
	}()
	fill(t, l, 50)
	require.NoError(t, l.DropBefore(40))
	require.NoError(t, l.Sync(ctx))
	wantValues(t, l)
	require.NoError(t, in.Close())
	<-stuck
}

// TestPitfallP11SealedFilesAreNotCut: no file is made shorter that somebody may
// have mapped, whatever is done to the log.
func TestPitfallP11SealedFilesAreNotCut(t *testing.T) {
	l, faulty, _ := inMem(t, small())
	fill(t, l, 22)
	v, err := l.Borrow(0, 1<<20)
	require.NoError(t, err)
	defer v.Release()
	w, err := l.Borrow(6, 1<<20)
	require.NoError(t, err)
	defer w.Release()
	faulty.Trace = func(c vfs.Call) {
		base := filepath.Base(c.Name)
		if c.Op == vfs.OpTruncate && filepath.Ext(base) == ".log" && base <= "00000000000000000005.log" {
			t.Errorf("%s is cut to %d", base, c.Len)
		}
	}
	fill(t, l, 10)
	require.NoError(t, l.Checkpoint(ctx))
	require.NoError(t, l.DropFrom(7))
	require.NoError(t, l.DropBefore(3))
	faulty.Trace = nil
	wantValues(t, l)
}

// TestPitfallW7LockSaysWhy: a lock that cannot be had names its file and the
// system's reason.
func TestPitfallW7LockSaysWhy(t *testing.T) {
	faulty := vfs.NewFaulty(vfs.NewMem())
	faulty.Add(vfs.Rule{Op: vfs.OpLock, Err: syscall.ENOLCK})
	_, err := log.Open(ctx, "log", onto(faulty))
	require.ErrorIs(t, err, syscall.ENOLCK)
	require.ErrorContains(t, err, log.LockName)
}

// TestPitfallR4DamageIsNotInTheWay: segments older than a damaged one can be
// dropped, and so can it.
func TestPitfallR4DamageIsNotInTheWay(t *testing.T) {
	m := filled(t, 30)
	name := "log/00000000000000000010.log"
	b, err := vfs.ReadFile(m, name)
	require.NoError(t, err)
	b[200] ^= 1
	require.NoError(t, vfs.WriteFile(m, name, b))
	l := open(t, "log", onto(m))
	require.NoError(t, l.DropBefore(10))
	require.Equal(t, int64(10), l.Segments()[0].Base)
	require.NoError(t, l.DropBefore(15))
	wantValues(t, l)
}

// calls counts the calls of a file system while do is at it.
func calls(t *testing.T, m *vfs.Mem, do func(o log.Options)) int {
	t.Helper()
	var n atomic.Int64
	faulty := vfs.NewFaulty(m)
	faulty.Trace = func(vfs.Call) { n.Add(1) }
	do(onto(faulty))
	return int(n.Load())
}

// TestPitfallR12DroppingCountsSegments: dropping everything takes a number of
// calls, and so of time, that depends on the segments and not on the records.
func TestPitfallR12DroppingCountsSegments(t *testing.T) {
	drop := func(records int) int {
		m := vfs.NewMem()
		o := onto(m)
		o.SegmentBytes = 1 << 20
		l := open(t, "log", o)
		for range records {
			_, err := l.Append(rec("x"))
			require.NoError(t, err)
		}
		closeLog(t, l)
		return calls(t, m, func(o log.Options) {
			o.SegmentBytes = 1 << 20
			l := open(t, "log", o)
			require.NoError(t, l.DropBefore(l.End()))
			closeLog(t, l)
		})
	}
	require.Equal(t, drop(10), drop(5000))
}

// TestPitfallR14ExpiringIsLinear: twice the segments are at most twice the calls.
func TestPitfallR14ExpiringIsLinear(t *testing.T) {
	expire := func(segments int) int {
		m := filled(t, 5*segments)
		return calls(t, m, func(o log.Options) {
			o.Retention = retention.Floor(func() int64 { return int64(5 * (segments - 1)) })
			l := open(t, "log", o)
			_, err := l.Retain(ctx)
			require.NoError(t, err)
			closeLog(t, l)
		})
	}
	small, large := expire(20), expire(200)
	require.Less(t, large, 11*small)
}

// TestPitfallS2OpeningCountsSegments: opening takes calls by the number of
// segments, and none that reads records (pitfalls S4 and P9).
func TestPitfallS2OpeningCountsSegments(t *testing.T) {
	opening := func(segments int) int {
		return calls(t, filled(t, 5*segments), func(o log.Options) {
			l := open(t, "log", o)
			require.Equal(t, int64(5*segments), l.End())
			require.Zero(t, l.Stats().Mapped)
			closeLog(t, l)
		})
	}
	few, many := opening(10), opening(100)
	require.Less(t, many-few, 5*90)
}

// TestPitfallR13WholeSegmentsGo: a record may be read after its age, until the
// youngest of its segment has it.
func TestPitfallR13WholeSegmentsGo(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	o := onto(vfs.NewMem())
	o.Env.Now = func() time.Time { return now }
	o.Retention = retention.MaxAge(time.Hour)
	l := open(t, "log", o)
	fill(t, l, 4)
	now = now.Add(40 * time.Minute)
	fill(t, l, 3) // the first of them shares a segment with the others
	require.Equal(t, []int64{0, 5}, bases(l))
	now = now.Add(30 * time.Minute)
	_, err := l.Retain(ctx)
	require.NoError(t, err)
	require.Zero(t, l.First(), "one is 30 minutes old")
	now = now.Add(31 * time.Minute)
	_, err = l.Retain(ctx)
	require.NoError(t, err)
	require.GreaterOrEqual(t, l.First(), int64(5))
}

// TestPitfallL5NothingBelowFirst: a search by time finds nothing that was
// dropped.
func TestPitfallL5NothingBelowFirst(t *testing.T) {
	l, _, _ := inMem(t, small())
	fill(t, l, 12)
	require.NoError(t, l.DropBefore(7))
	at, err := l.OffsetAt(time.UnixMilli(0))
	require.NoError(t, err)
	require.Equal(t, l.First(), at)
}

// TestPitfallA4TimesAreKept: a record has the time it was given.
func TestPitfallA4TimesAreKept(t *testing.T) {
	l, _, _ := inMem(t, log.Options{})
	given := time.UnixMilli(86_400_000).UTC()
	_, err := l.Append(record.Record{Time: given}, record.Record{Time: given.Add(-time.Hour)})
	require.NoError(t, err)
	r, err := l.Read(0)
	require.NoError(t, err)
	require.Equal(t, given, r.Time)
	at, err := l.OffsetAt(given)
	require.NoError(t, err)
	require.Zero(t, at)
}

// TestPitfallH2MemoryUnderRetention: memory does not grow while the oldest go as
// fast as others come (pitfall H4: nor with each roll).
func TestPitfallH2MemoryUnderRetention(t *testing.T) {
	o := log.Options{SegmentBytes: 16 << 10, MappedSegments: 2, Retention: retention.MaxBytes(64 << 10)}
	l := open(t, t.TempDir(), o)
	heap := func() uint64 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	rolls := func(n int) {
		for range n {
			for range 20 {
				_, err := l.Append(rec(strings.Repeat("x", 900)))
				require.NoError(t, err)
			}
			_, err := l.Retain(ctx)
			require.NoError(t, err)
		}
	}
	rolls(50)
	before := heap()
	rolls(200)
	after := heap()
	require.Less(t, after, before+1<<20)
	require.Less(t, l.Stats().Segments, 12)
}

// TestPitfallH3MemoryByRecords: what an open log takes of memory does not go by
// the number of its records: ten times as many tiny ones take no more, be it opened
// after a clean close or scanned, and read at many places.
func TestPitfallH3MemoryByRecords(t *testing.T) {
	const inBatch = 1000
	records := make([]record.Record, inBatch)
	for i := range records {
		records[i] = record.Record{Value: []byte("x")}
	}
	raw := encode(t, record.BatchOptions{LeaderEpoch: -1}, records...)
	heap := func() int64 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	takes := func(batches int, clean bool) int64 {
		dir := t.TempDir()
		o := log.Options{SegmentBytes: 4 << 20, MappedSegments: 4}
		l := open(t, dir, o)
		for range batches {
			_, err := l.AppendBatch(slices.Clone(raw), log.FromClient)
			require.NoError(t, err)
		}
		closeLog(t, l)
		if !clean {
			require.NoError(t, os.Remove(filepath.Join(dir, "seglog.checkpoint")))
		}
		before := heap()
		l, err := log.Open(ctx, dir, o)
		require.NoError(t, err)
		end := int64(batches) * inBatch
		require.Equal(t, end, l.End())
		for at := int64(0); at < end; at += end / 50 {
			r, err := l.Read(at)
			require.NoError(t, err)
			require.Equal(t, at, r.Offset)
		}
		took := heap() - before
		closeLog(t, l)
		return took
	}
	for _, clean := range []bool{true, false} {
		few, many := takes(200, clean), takes(2000, clean)
		t.Logf("clean %t: 200,000 records take %d KiB, 2,000,000 take %d KiB", clean, few>>10, many>>10)
		require.Less(t, many, few+512<<10, "clean %t", clean)
		require.Less(t, many, int64(2<<20))
	}
}

// TestPitfallR6OlderDirectories: retention drops the segments of directories that
// each version of Kafka has left, and of this engine with the checkpoints of its
// earlier versions, which had fewer lines.
func TestPitfallR6OlderDirectories(t *testing.T) {
	dropped := 0
	retains := func(t *testing.T, l *log.Log) {
		t.Helper()
		segments, end := len(l.Segments()), l.End()
		gone, err := l.Retain(ctx)
		require.NoError(t, err)
		require.Len(t, l.Segments(), 1)
		require.GreaterOrEqual(t, len(gone), segments-1)
		require.Equal(t, end, l.End())
		dropped += len(gone)
	}
	root := testkit.KafkaDirs(t)
	for _, original := range logDirs(t, root) {
		dir := testkit.CopyTree(t, original)
		o := log.ManagerOptions{Log: log.Options{SegmentBytes: 1 << 20, Retention: retention.MaxBytes(0)}}
		m := manage(t, dir, o)
		ends := make(map[string]int64)
		for name, l := range m.Logs() {
			retains(t, l)
			ends[name] = l.End()
		}
		require.NoError(t, m.Close())
		m = manage(t, dir, o)
		for name, l := range m.Logs() {
			require.True(t, l.Recovery().Clean, name)
			require.Equal(t, ends[name], l.End(), name)
		}
		require.NoError(t, m.Close())
	}
	require.Greater(t, dropped, 10, "in directories of Kafka's")

	for _, without := range [][]string{{"boot "}, {"boot ", "state "}, {"boot ", "state ", "cleaned "}, {"boot ", "state ", "cleaned ", "cleaned-noted "}} {
		m := filled(t, 30)
		const name = "log/seglog.checkpoint"
		var kept strings.Builder
		lines := 0
		for line := range strings.Lines(text(t, m, name)) {
			if strings.HasPrefix(line, "xxhash64 ") || slices.ContainsFunc(without, func(p string) bool { return strings.HasPrefix(line, p) }) {
				lines++
				continue
			}
			kept.WriteString(line)
		}
		require.Greater(t, lines, 1, "it is of an earlier version")
		write(t, m, name, fmt.Sprintf("%sxxhash64 %016x\n", kept.String(), xxhash.Sum64String(kept.String())))
		o := onto(m)
		o.Retention = retention.MaxBytes(0)
		l := open(t, "log", o)
		require.True(t, l.Recovery().Clean, "it is believed")
		retains(t, l)
		closeLog(t, l)
		l = open(t, "log", o)
		require.True(t, l.Recovery().Clean)
		fill(t, l, 1)
		closeLog(t, l)
	}
}
