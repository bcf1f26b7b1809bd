package concurrent

import (
	"context"
	"iter"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention/compact"
)

// TestCatchesABrokenLog: histories of logs that are each broken in one way, as
// an engine might be, are found not to be linearizable.
func TestCatchesABrokenLog(t *testing.T) {
	for _, b := range []struct {
		name, profile string
		breaks        func(subject) subject
	}{
		{"End is published before the copy", "append", func(s subject) subject { return &endFirst{subject: s} }},
		{"End is remembered", "append", func(s subject) subject { return &staleEnd{subject: s} }},
		{"Append returns before it has appended", "append", func(s subject) subject { return &ackFirst{subject: s} }},
		{"Sync does nothing", "append", func(s subject) subject { return noSync{s} }},
		{"the leader epoch is that of an earlier moment", "append", func(s subject) subject { return &staleEpoch{subject: s} }},
		{"OffsetAt passes over a record", "append", func(s subject) subject { return laterAt{s} }},
		{"dropped records are still read", "drop", func(s subject) subject { return newCached(s) }},
		{"DropFrom returns before it has dropped", "drop", func(s subject) subject { return &lateDrop{subject: s} }},
		{"a walk skips a record", "drop", func(s subject) subject { return skipping{s} }},
		{"Retain drops one segment more than it says", "retain", func(s subject) subject { return greedy{s} }},
		{"the high watermark does not bound reads", "high watermark", func(s subject) subject { return unbounded{s} }},
		{"a batch sent twice is appended twice", "idempotence", func(s subject) subject { return forgetful{s} }},
		{"the last stable offset is the high watermark", "transactions", func(s subject) subject { return unstable{s} }},
		{"aborted records are read", "transactions", func(s subject) subject { return unbounded{s} }},
		{"compaction takes the newest of a key", "compaction", func(s subject) subject { return &greedyCompaction{subject: s} }},
	} {
		t.Run(b.name, func(t *testing.T) {
			for seed := uint64(1); seed <= 60; seed++ {
				h := history{profile: profileNamed(b.profile), seed: seed}
				if porcupine.CheckOperationsTimeout(model, h.make(t, b.breaks), patience) == porcupine.Illegal {
					return
				}
			}
			t.Error("not found out")
		})
	}
}

func profileNamed(name string) profile {
	for _, p := range profiles {
		if p.name == name {
			return p
		}
	}
	panic(name)
}

func linger() {
	for range 20 {
		runtime.Gosched()
	}
}

type endFirst struct {
	subject
	announced atomic.Int64
}

func (b *endFirst) Append(r ...record.Record) (int64, error) {
	b.announced.Store(b.subject.End() + int64(len(r)))
	linger()
	return b.subject.Append(r...)
}

func (b *endFirst) End() int64 { return max(b.subject.End(), b.announced.Load()) }

type staleEnd struct {
	subject
	calls, last atomic.Int64
}

func (b *staleEnd) End() int64 {
	if b.calls.Add(1)%4 == 0 {
		b.last.Store(b.subject.End())
	}
	return b.last.Load()
}

type ackFirst struct{ subject }

func (b *ackFirst) Append(r ...record.Record) (int64, error) {
	at := b.subject.End()
	done := make(chan struct{})
	go func() {
		defer close(done)
		linger()
		_, _ = b.subject.Append(r...)
	}()
	if at%2 == 0 {
		<-done
	}
	return at, nil
}

type noSync struct{ subject }

func (noSync) Sync(context.Context) error { return nil }

func (b noSync) AppendSync(_ context.Context, r ...record.Record) (int64, error) {
	return b.Append(r...)
}

type staleEpoch struct {
	subject
	epoch atomic.Int32
}

func (b *staleEpoch) SetLeaderEpoch(epoch int32) error {
	err := b.subject.SetLeaderEpoch(epoch)
	linger()
	b.epoch.Store(epoch)
	return err
}

func (b *staleEpoch) LeaderEpoch() int32 { return b.epoch.Load() }

type laterAt struct{ subject }

func (b laterAt) OffsetAt(t time.Time) (int64, error) {
	at, err := b.subject.OffsetAt(t)
	return min(at+1, b.subject.End()), err
}

// cached keeps what was read once.
type cached struct {
	subject
	read [1000]atomic.Pointer[record.Record]
}

func newCached(s subject) subject { return &cached{subject: s} }

func (b *cached) ReadAt(level log.Isolation, offset int64) (record.Record, error) {
	at := &b.read[offset]
	if r := at.Load(); r != nil {
		return *r, nil
	}
	r, err := b.subject.ReadAt(level, offset)
	if err == nil {
		at.Store(&r)
	}
	return r, err
}

type lateDrop struct{ subject }

func (b *lateDrop) DropFrom(offset int64) error {
	done := make(chan error, 1)
	go func() {
		linger()
		done <- b.subject.DropFrom(offset)
	}()
	if offset%2 == 0 {
		return <-done
	}
	return nil
}

type skipping struct{ subject }

func (b skipping) Walk(level log.Isolation, offset int64) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for r, err := range b.subject.Walk(level, offset) {
			if err == nil && r.Offset%8 == 7 {
				continue
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

type greedy struct{ subject }

func (b greedy) Retain(ctx context.Context) ([]log.SegmentInfo, error) {
	dropped, err := b.subject.Retain(ctx)
	if n := len(dropped); n > 0 {
		dropped = dropped[:n-1]
	}
	return dropped, err
}

type unbounded struct{ subject }

func (b unbounded) ReadAt(_ log.Isolation, offset int64) (record.Record, error) {
	return b.subject.ReadAt(log.UpToEnd, offset)
}

type forgetful struct{ subject }

func (b forgetful) AppendBatch(raw []byte, _ log.Source) (log.Appended, error) {
	batch, err := record.Parse(raw)
	if err != nil {
		return log.Appended{}, err
	}
	var list []record.Record
	for r, err := range new(record.Decoder).Records(batch) {
		if err != nil {
			return log.Appended{}, err
		}
		list = append(list, r)
	}
	at, err := b.Append(list...)
	return log.Appended{First: at}, err
}

type unstable struct{ subject }

func (b unstable) LastStable() int64 { return b.HighWatermark() }

// greedyCompaction does not show, from the second compaction on, some records
// that the log has.
type greedyCompaction struct {
	subject
	compacted atomic.Int64
}

func (b *greedyCompaction) Compact(ctx context.Context) (compact.Result, error) {
	b.compacted.Add(1)
	return b.subject.Compact(ctx)
}

func (b *greedyCompaction) ReadAt(level log.Isolation, offset int64) (record.Record, error) {
	if b.compacted.Load() > 1 && offset == b.subject.End()-1 {
		return record.Record{}, log.ErrNoRecord
	}
	return b.subject.ReadAt(level, offset)
}
