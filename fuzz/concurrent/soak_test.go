package concurrent

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention"
	"github.com/seglog/seglog/retention/compact"
)

var soak = flag.Duration("soak", 2*time.Second, "how long TestSoak goes on")

// TestSoak does everything at once, for as long as it is told to: appends, reads,
// views that are held, drops from both ends, retention, compaction, upkeep,
// closing and opening again, in memory and on disk. A record is at one offset
// for good, and as it was appended; who reads on reads upwards; what a View
// shows stays; and no call returns an error that is not documented.
func TestSoak(t *testing.T) {
	began := time.Now()
	generations, batches, reads := 0, int64(0), int64(0)
	for seed := uint64(time.Now().UnixNano()); time.Since(began) < *soak && !t.Failed(); seed++ {
		t.Logf("seed %d", seed)
		g := &generation{t: t, rand: rand.New(rand.NewPCG(seed, 0)), seed: seed}
		g.run(400 * time.Millisecond)
		generations, batches, reads = generations+1, batches+g.ids.Load(), reads+g.reads.Load()
	}
	t.Logf("%d logs, each opened three times, %d batches, %d records read, in %v", generations, batches, reads, time.Since(began).Round(time.Second))
	require.Greater(t, reads, int64(100))
}

// generation is one directory, opened a few times.
type generation struct {
	t    *testing.T
	seed uint64
	rand *rand.Rand
	cuts bool // DropFrom is used, so that an offset may be given again
	ids  atomic.Int64

	reads atomic.Int64
	at    sync.Map // id of a batch: its first offset
	have  sync.Map // offset: id of the batch that begins there or before, unless cuts
	l     *log.Log
}

func (g *generation) run(each time.Duration) {
	t, r := g.t, g.rand
	stop := shake(g.seed)
	defer stop()
	g.cuts = r.IntN(2) == 0
	o := log.Options{SegmentBytes: 1 << (10 + r.IntN(4)), MappedSegments: 1 + r.IntN(4), IndexInterval: 1 << r.IntN(12), Retention: retention.MaxBytes(20 << 10)}
	if r.IntN(2) == 0 {
		o.Compaction = &compact.Options{MapBytes: 64 << 10, MinDirtyRatio: 1e-9}
	}
	dir := "log"
	if r.IntN(3) == 0 {
		dir = t.TempDir()
		o.Env.FS = unsteady(vfs.OS, g.seed)
	} else {
		o.Env.FS = unsteady(vfs.NewMem(), g.seed)
	}
	for range 3 {
		l, err := log.Open(ctx, dir, o)
		require.NoError(t, err, "seed %d", g.seed)
		require.True(t, l.Recovery().Clean || l.End() == 0, "seed %d: %v", g.seed, l.Recovery().Actions)
		g.l = l
		g.everybody(each, o)
		if t.Failed() {
			return
		}
	}
}

// everybody is all of them at once, until the log is closed under them.
func (g *generation) everybody(each time.Duration, o log.Options) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	work := func(what string, do func(r *rand.Rand) error) {
		seed := g.rand.Uint64()
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			for ctx.Err() == nil {
				err := do(r)
				if errors.Is(err, log.ErrClosed) {
					return
				}
				if !documented(err) {
					g.t.Errorf("seed %d: %s: %v", g.seed, what, err)
					return
				}
			}
		})
	}
	for range 2 {
		work("append", g.append)
		work("read", g.read)
	}
	producer := &producing{pid: g.ids.Add(1)}
	work("produce", func(r *rand.Rand) error { return producer.send(g, r) })
	work("walk", g.walk)
	work("tail", func(r *rand.Rand) error { return g.tail(ctx, r) })
	work("view", g.view)
	work("watermarks", g.watermarks)
	work("drop", g.drop)
	if o.Compaction != nil {
		work("compact", func(*rand.Rand) error { _, err := g.l.Compact(ctx); return ignoring(err, context.Canceled) })
	}
	every := log.Every{Sync: 3 * time.Millisecond, SyncBytes: 4 << 10, Retain: 5 * time.Millisecond}
	work("upkeep", func(*rand.Rand) error { return g.l.Maintain(ctx, every) })
	time.Sleep(each)
	if err := g.l.Close(); err != nil {
		g.t.Errorf("seed %d: Close: %v", g.seed, err)
	}
	cancel()
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		wg.Wait()
	}()
	awaited(g.t, finished, fmt.Sprintf("seed %d: somebody hangs after Close", g.seed))
}

func ignoring(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}

// documented says whether a call may return the error.
func documented(err error) bool {
	for _, known := range []error{nil, io.EOF, log.ErrTrimmed, log.ErrBeyond, log.ErrNoRecord, log.ErrOutOfOrderSequence} {
		if err == known || known != nil && errors.Is(err, known) {
			return true
		}
	}
	return false
}

func (g *generation) somewhere(r *rand.Rand) int64 {
	first, end := g.l.First(), g.l.End()
	return max(0, first-1+r.Int64N(max(end-first, 0)+3))
}

// placed notes where a batch is; it is nowhere else.
func (g *generation) placed(id int, first int64, how string) {
	if was, known := g.at.LoadOrStore(id, first); known && was != first {
		g.t.Errorf("seed %d: batch %d was at %d and is at %d, by %s", g.seed, id, was, first, how)
	}
}

// saw checks a record that was read.
func (g *generation) saw(rec record.Record, how string) {
	g.reads.Add(1)
	id, index := recognise(rec)
	if id == 0 {
		g.t.Errorf("seed %d: offset %d has %q, which nobody appended, by %s", g.seed, rec.Offset, rec.Value, how)
		return
	}
	g.placed(id, rec.Offset-int64(index), how)
	if !g.cuts {
		if was, known := g.have.LoadOrStore(rec.Offset, id); known && was != id {
			g.t.Errorf("seed %d: offset %d had batch %d and has %d, by %s", g.seed, rec.Offset, was, id, how)
		}
	}
}

func (g *generation) append(r *rand.Rand) error {
	id, n := int(g.ids.Add(1)), 1+r.IntN(3)
	var at int64
	var err error
	if r.IntN(20) == 0 {
		at, err = g.l.AppendSync(ctx, recordsOf(id, n)...)
	} else {
		at, err = g.l.Append(recordsOf(id, n)...)
	}
	if at >= 0 {
		g.placed(id, at, "append")
	}
	return err
}

// producing is an idempotent producer, which has transactions now and then.
type producing struct {
	pid  int64
	seq  int32
	open bool
}

func (p *producing) send(g *generation, r *rand.Rand) error {
	if p.open && r.IntN(3) == 0 {
		p.open = false
		_, err := g.l.EndTransaction(log.EndTxn{ProducerID: p.pid, Commit: r.IntN(2) == 0})
		return err
	}
	id, n := int(g.ids.Add(1)), 1+r.IntN(3)
	p.open = p.open || r.IntN(4) == 0
	var first int64
	times := 1 + r.IntN(2) // sent again now and then
	if g.cuts {
		times = 1 // or it may have been cut off, and then it gets another place
	}
	for i := range times {
		a, err := g.l.AppendBatch(encoded(id, n, p.pid, p.seq, p.open), log.FromClient)
		if err != nil {
			*p = producing{pid: g.ids.Add(1)} // what it had sent was cut off, say
			if errors.Is(err, log.ErrTransactionState) {
				return nil
			}
			return err
		}
		if i == 0 {
			first = a.First
		} else if a.First != first || !a.Duplicate {
			g.t.Errorf("seed %d: a batch sent again is at %d, was at %d", g.seed, a.First, first)
		}
		g.placed(id, first, "produce")
	}
	p.seq += int32(n)
	return nil
}

func (g *generation) read(r *rand.Rand) error {
	offset := g.somewhere(r)
	level := log.Isolation(r.IntN(3))
	rec, err := g.l.Isolated(level).Read(offset)
	if err == nil {
		g.saw(rec, "Read")
		if rec.Offset != offset {
			g.t.Errorf("seed %d: Read(%d) is at %d", g.seed, offset, rec.Offset)
		}
	}
	if r.IntN(4) == 0 {
		if at, err := g.l.OffsetAt(timeOf(r.IntN(1000), 0)); err != nil || at < 0 {
			return err
		}
		if _, err := g.l.Explain(offset); !documented(err) {
			return err
		}
	}
	return err
}

func (g *generation) walk(r *rand.Rand) error {
	last, left := int64(-1), r.IntN(200)
	for rec, err := range g.l.Isolated(log.Isolation(r.IntN(3))).From(g.somewhere(r)) {
		if err != nil {
			return err
		}
		g.saw(rec, "From")
		if rec.Offset <= last {
			g.t.Errorf("seed %d: offset %d after %d", g.seed, rec.Offset, last)
		}
		if last = rec.Offset; left == 0 {
			break
		}
		left--
	}
	return nil
}

func (g *generation) tail(ctx context.Context, r *rand.Rand) error {
	last, left := int64(-1), r.IntN(200)
	for rec, err := range g.l.Tail(ctx, g.somewhere(r)) {
		if err != nil {
			return ignoring(err, context.Canceled)
		}
		g.saw(rec, "Tail")
		if rec.Offset <= last {
			g.t.Errorf("seed %d: offset %d after %d", g.seed, rec.Offset, last)
		}
		if last = rec.Offset; left == 0 {
			break
		}
		left--
	}
	return nil
}

func (g *generation) view(r *rand.Rand) error {
	v, err := g.l.Isolated(log.Isolation(r.IntN(3))).Borrow(g.somewhere(r), r.Int64N(4000))
	if err != nil {
		return err
	}
	defer v.Release()
	before := strings.Clone(string(v.Bytes()))
	time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
	if before != string(v.Bytes()) {
		g.t.Errorf("seed %d: the bytes of a View changed", g.seed)
	}
	var d record.Decoder
	for b := range v.Batches() {
		if b.Control() {
			continue
		}
		for rec, err := range d.Records(b) {
			if err != nil {
				return err
			}
			g.saw(rec, "Borrow")
		}
	}
	return nil
}

func (g *generation) watermarks(r *rand.Rand) error {
	s := g.l.Stats()
	if s.First > s.Durable || s.Durable > s.End || s.HighWatermark > s.End {
		g.t.Errorf("seed %d: %+v", g.seed, s)
	}
	if lso, end := g.l.LastStable(), g.l.End(); !g.cuts && lso > end {
		g.t.Errorf("seed %d: last stable %d, end %d", g.seed, lso, end)
	}
	g.l.Segments()
	g.l.Producers()
	g.l.Aborted(0, s.End)
	g.l.EndOffsetForEpoch(g.l.LeaderEpoch())
	switch r.IntN(40) {
	case 0:
		return g.l.SetLeaderEpoch(g.l.LeaderEpoch() + 1)
	case 1:
		return g.l.SetHighWatermark(g.l.End())
	}
	return nil
}

func (g *generation) drop(r *rand.Rand) error {
	time.Sleep(time.Duration(r.IntN(3000)) * time.Microsecond)
	switch r.IntN(8) {
	case 0:
		return g.l.DropBefore(g.l.First() + r.Int64N(20))
	case 1:
		_, err := g.l.Retain(ctx)
		return err
	case 2:
		return g.l.Checkpoint(ctx)
	case 3:
		if g.cuts {
			return g.l.DropFrom(max(g.l.First(), g.l.End()-r.Int64N(20)))
		}
	}
	return nil
}
