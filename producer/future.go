package producer

import (
	"context"
	"time"
)

// Future is a record on its way.
type Future struct {
	b       *batch
	index   int32 // in the batch
	ms      int64 // the record's time
	refused *refusal
}

// refusal is of a record that came into no batch.
type refusal struct {
	topic     string
	partition Partition
	time      time.Time
	err       error
}

// Done is closed when the record has been acknowledged or has failed.
func (f *Future) Done() <-chan struct{} {
	if f.refused != nil {
		return always
	}
	return f.b.done
}

var always = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Wait waits for that and returns Result, or ctx's error if it ends first; the
// record is on its way all the same.
func (f *Future) Wait(ctx context.Context) (Delivery, error) {
	select {
	case <-f.Done():
		return f.Result()
	default:
	}
	select {
	case <-f.Done():
		return f.Result()
	case <-ctx.Done():
		return Delivery{}, context.Cause(ctx)
	}
}

// Result is what became of the record. It is for after Done.
func (f *Future) Result() (Delivery, error) {
	if r := f.refused; r != nil {
		n, _ := r.partition.Number()
		return Delivery{Topic: r.topic, Partition: max(n, 0), Time: r.time}, r.err
	}
	b, index := f.b.holder(f.index)
	d := Delivery{Topic: b.q.topic.name, Partition: b.q.number, Time: time.UnixMilli(f.ms).UTC()}
	if b.err != nil {
		return d, b.err
	}
	if !b.result.AppendTime.IsZero() {
		d.Time = b.result.AppendTime
	}
	if d.Stored = b.result.Stored; d.Stored {
		d.Offset = b.result.Offset + int64(index)
	}
	return d, nil
}
