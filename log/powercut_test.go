package log_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// stoppedAt runs op and stops the machine before the n-th call that changes what
// is stored; ok is false if there are fewer.
func stoppedAt(mem *vfs.Mem, n int, stop func(*vfs.Mem) *vfs.Mem, op func(fs vfs.FS)) (after *vfs.Mem, ok bool) {
	faulty := vfs.NewFaulty(mem)
	calls := 0
	faulty.Trace = func(c vfs.Call) {
		if c.Op&vfs.ChangeOp == 0 || after != nil {
			return
		}
		if calls == n {
			after = stop(mem)
		}
		calls++
	}
	op(faulty)
	return after, after != nil
}

// What is known of producers outlives their batches, whenever the power is cut:
// a drop notes it before batches go that no snapshot has taken in.
func TestDropBeforeKeepsProducers(t *testing.T) {
	o := small()
	o.Env.Now = newClock().now.Local
	dropped := false
	for n, ok := 0, true; ok; n++ {
		mem := vfs.NewMem()
		faulty := vfs.NewFaulty(mem)
		l, err := log.Open(ctx, "log", on(o, faulty))
		require.NoError(t, err)
		send(t, l, 7, 0, 0, 2)
		require.NoError(t, l.Checkpoint(ctx))
		send(t, l, 7, 0, 2, 3)
		send(t, l, 8, 4, 0, 1)
		require.NoError(t, l.Sync(ctx)) // no segment ends here, so that it notes nothing
		put(t, l, rec(strings.Repeat("v", 900)))
		require.Equal(t, []int64{0, 6}, bases(l))
		want := l.Producers()
		require.Len(t, want, 2)
		calls := 0
		var after *vfs.Mem
		faulty.Trace = func(c vfs.Call) {
			if c.Op&vfs.ChangeOp != 0 && after == nil {
				if calls == n {
					after = mem.Crash(uint64(n))
				}
				calls++
			}
		}
		_ = l.DropBefore(6)
		if ok = after != nil; !ok {
			require.Equal(t, want, l.Producers())
			after = mem.Crash(1)
		}
		l, err = log.Open(ctx, "log", on(o, after))
		require.NoError(t, err)
		require.Equal(t, want, l.Producers(), "power cut at call %d: %v", n, l.Recovery().LogValue())
		dropped = dropped || l.First() == 6
		send(t, l, 7, 0, 5, 1)
		require.NoError(t, l.Close())
	}
	require.True(t, dropped)
}

// Compaction leaves a gap at the end of a segment, and the next one is cut. That
// gap is no tear: what was durable behind it is not set aside, and the log does
// not end before it.
func TestDropFromBehindACompactedGap(t *testing.T) {
	o := compactedLog()
	setup := func() *vfs.Mem {
		mem := vfs.NewMem()
		l, err := log.Open(ctx, "log", on(o, mem))
		require.NoError(t, err)
		put(t, l, keyed("a", strings.Repeat("v", 200)))
		put(t, l, keyed("b", strings.Repeat("v", 200)))
		_, err = l.AppendBatch(encode(t, record.BatchOptions{BaseOffset: l.End()}, rec("no key")), log.FromLeader)
		require.NoError(t, err)
		put(t, l, keyed("c", strings.Repeat("v", 600)))
		base := bases(l)[1]
		put(t, l, keyed("d", "1"), keyed("d", "2"))
		put(t, l, keyed("e", "3"))
		compacted(t, l)
		require.Equal(t, base, bases(l)[1])
		require.Less(t, l.Segments()[0].Next, base)
		require.NoError(t, l.Close())
		return mem.Kill()
	}
	l, err := log.Open(ctx, "log", on(o, setup()))
	require.NoError(t, err)
	base, end := bases(l)[1], l.End()
	for _, from := range []int64{end - 1, base} {
		l, err := log.Open(ctx, "log", on(o, setup()))
		require.NoError(t, err)
		require.NoError(t, l.DropFrom(from))
		cut := l.End()
		for n, ok := 0, true; ok; n++ {
			for seed := range uint64(6) {
				stop := func(m *vfs.Mem) *vfs.Mem { return m.Crash(seed) }
				if seed == 0 {
					stop = (*vfs.Mem).Kill
				}
				var done bool
				mem := setup()
				after, stopped := stoppedAt(mem, n, stop, func(fs vfs.FS) {
					if l, err := log.Open(ctx, "log", on(o, fs)); err == nil {
						done = l.DropFrom(from) == nil
					}
				})
				if ok = stopped; !ok {
					after = stop(mem)
				}
				l, err := log.Open(ctx, "log", on(o, after))
				require.NoError(t, err)
				if l.End() != cut && (done || l.End() != end) {
					t.Fatalf("DropFrom(%d), stopped at call %d (seed %d): the log ends at %d, want %d or %d: %v", from, n, seed, l.End(), end, cut, l.Recovery().LogValue())
				}
				require.NoError(t, l.Close())
			}
		}
	}
}

// A high watermark is kept by Close, of a log too that was changed in nothing else.
func TestCloseKeepsTheHighWatermark(t *testing.T) {
	mem := vfs.NewMem()
	o := small()
	o.Mode = log.Follower
	l := open(t, "log", on(o, mem))
	fill(t, l, 5)
	require.NoError(t, l.SetHighWatermark(2))
	closeLog(t, l)
	l = open(t, "log", on(o, mem))
	require.NoError(t, l.SetHighWatermark(4))
	closeLog(t, l)
	l = open(t, "log", on(o, mem))
	require.EqualValues(t, 4, l.HighWatermark())
	require.True(t, l.Recovery().Clean)
}

// The base offset of a batch is outside its checksum. Where it lies in two
// sectors, and the power cut keeps the second alone, another one must not be
// believed: a gap that passes a power of 256 there begins a segment.
func TestTornBaseOffsetIsNeverAnotherOne(t *testing.T) {
	for _, c := range []struct {
		first, offset int64 // of the batch before, and of the one that may be torn
		rolls         int   // of the places in a sector that it can begin at
	}{
		{200, 256 + 230, 1}, {200, 256 + 100, 0}, {3, 70_000, 2}, {3, 7, 0}, {3, 1 << 24, 0}, {3, 1<<24 + 5, 3},
	} {
		rolls := 0
		for pad := 300; pad < 350; pad++ { // the end of the sector among them
			mem := vfs.NewMem()
			o := log.Options{SegmentBytes: 4 << 10}
			l, err := log.Open(ctx, "log", on(o, mem))
			require.NoError(t, err)
			raw := encode(t, record.BatchOptions{BaseOffset: c.first}, record.Record{Value: make([]byte, 100+pad)})
			_, err = l.AppendBatch(raw, log.FromLeader)
			require.NoError(t, err)
			require.NoError(t, l.Sync(ctx))
			raw = encode(t, record.BatchOptions{BaseOffset: c.offset}, record.Record{Value: []byte("behind a gap")})
			_, err = l.AppendBatch(raw, log.FromLeader)
			require.NoError(t, err)
			rolls += len(bases(l)) - 1
			for seed := range uint64(12) {
				l, err := log.Open(ctx, "log", on(o, mem.Fork().Crash(seed)))
				require.NoError(t, err)
				if end := l.End(); end != c.first+1 && end != c.offset+1 {
					t.Fatalf("pad %d, power cut %d: the log ends at %d, want %d or %d: segments %+v, %v", pad, seed, end, c.first+1, c.offset+1, bases(l), l.Recovery().LogValue())
				}
			}
		}
		require.Equal(t, c.rolls, rolls, "%+v", c)
	}
}
