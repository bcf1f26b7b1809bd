package broker

import (
	"context"
	"errors"
	"io"
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/log"
)

var systemNow = time.Now

// FetchOptions say how to read. The zero value reads what there is, up to the
// high watermark.
type FetchOptions struct {
	// MinBytes and MaxWait: there is no answer before that many bytes are there
	// to be read, or MaxWait is over. An error of a partition is one at once.
	MinBytes int64
	MaxWait  time.Duration
	// MaxBytes bounds the answer, but for its first batch. 0 is no bound.
	MaxBytes int64
	// Waiting, if not nil, is called before the first wait. It may say with a
	// context of its own when that is to end, and is told when it has.
	Waiting func(context.Context) (_ context.Context, done func())
	// Wake, if not nil, ends the wait when something comes from it.
	Wake <-chan struct{}
	// Isolation is how far is read.
	Isolation log.Isolation
}

// FetchPartition is where to read.
type FetchPartition struct {
	Partition *Partition
	Offset    int64
	// MaxBytes bounds what is read of this partition, but for the first batch of
	// the whole answer. 0 is no bound.
	MaxBytes int64
	// Err, if not nil, is why nothing is to be read: it is the answer. Partition
	// may then be nil.
	Err error
}

// Fetched is what was read of a partition.
type Fetched struct {
	// View is the run of batches, nil for none. It is to be released.
	View *log.View
	// Aborted are the transactions whose records in the View are to be passed
	// over, of who reads committed ones.
	Aborted []log.AbortedTxn

	HighWatermark, LastStable, First int64
	// Err is OFFSET_OUT_OF_RANGE, UNKNOWN_TOPIC_OR_PARTITION, KAFKA_STORAGE_ERROR
	// or the one that was given.
	Err error
}

// Fetch reads partitions in the order in which they are given, without copying:
// each View is the engine's memory until it is released. It waits until there is
// enough, by FetchOptions, woken by what moves a partition's watermark, and not
// at all if ctx ends, which is no error.
func (b *Broker) Fetch(ctx context.Context, o FetchOptions, partitions []FetchPartition) []Fetched {
	got := await(ctx, o, partitions)
	fetched(partitions, got)
	return got
}

// await reads until there is enough.
func await(ctx context.Context, o FetchOptions, partitions []FetchPartition) []Fetched {
	if o.MaxBytes <= 0 {
		o.MaxBytes = math.MaxInt64
	}
	got, enough := fetch(o, partitions)
	if enough || o.MaxWait <= 0 {
		return got
	}
	if o.Waiting != nil {
		var done func()
		ctx, done = o.Waiting(ctx)
		defer done()
	}
	ctx, cancel := context.WithTimeout(ctx, o.MaxWait)
	defer cancel()
	w := newWatcher()
	for _, p := range partitions {
		p.Partition.watchers.add(w)
	}
	defer func() {
		for _, p := range partitions {
			p.Partition.watchers.remove(w)
		}
	}()
	for {
		// Once more before the first wait: something may have moved before the
		// watcher was there.
		Release(got)
		if got, enough = fetch(o, partitions); enough {
			return got
		}
		select {
		case <-w.woken:
			continue
		case <-o.Wake:
		case <-ctx.Done():
		}
		Release(got)
		got, _ = fetch(o, partitions) // not all that changes wakes
		return got
	}
}

// Release releases all views.
func Release(all []Fetched) {
	for _, f := range all {
		if f.View != nil {
			f.View.Release()
		}
	}
}

// fetch reads what there is, and says whether that is enough.
func fetch(o FetchOptions, partitions []FetchPartition) (got []Fetched, enough bool) {
	got = make([]Fetched, len(partitions))
	left, failed := o.MaxBytes, false
	var total int64
	for i := range partitions {
		got[i] = partitions[i].read(o.Isolation, left, total == 0)
		if got[i].Err != nil {
			failed = true
		}
		if v := got[i].View; v != nil {
			n := int64(len(v.Bytes()))
			total += n
			left = max(left-n, 0)
		}
	}
	return got, failed || len(partitions) == 0 || total >= min(o.MinBytes, o.MaxBytes)
}

// read reads at most limit bytes, but the first batch of the whole answer
// whatever its size.
func (f *FetchPartition) read(level log.Isolation, limit int64, first bool) Fetched {
	none := Fetched{HighWatermark: -1, LastStable: -1, First: -1}
	if f.Err != nil {
		none.Err = f.Err
		return none
	}
	l, err := f.Partition.Log()
	if err != nil {
		none.Err = err
		return none
	}
	if f.MaxBytes > 0 {
		limit = min(limit, f.MaxBytes)
	}
	var v *log.View
	if limit > 0 || first {
		v, err = l.Isolated(level).Borrow(f.Offset, max(limit, 1))
	} else if f.Offset < l.First() || f.Offset > l.End() {
		err = log.ErrBeyond
	}
	if v != nil && int64(len(v.Bytes())) > limit && !first {
		v.Release()
		v = nil
	}
	if err != nil && err != io.EOF {
		none.Err = readError(err)
		return none
	}
	// After the batches, so that none of them is above the watermarks told.
	got := Fetched{View: v, HighWatermark: l.HighWatermark(), LastStable: l.LastStable(), First: l.First()}
	if v != nil && level == log.ReadCommitted {
		got.Aborted = l.Aborted(f.Offset, v.Next())
	}
	return got
}

// readError is what a reader is told of an error of the log.
func readError(err error) error {
	switch {
	case errors.Is(err, log.ErrTrimmed), errors.Is(err, log.ErrBeyond):
		return failf(kerr.OffsetOutOfRange, "%v", err)
	case errors.As(err, new(*log.DamageError)):
		return failf(kerr.KafkaStorageError, "%v", err)
	}
	return storageError(err)
}
