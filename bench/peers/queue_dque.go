package peers

import (
	"context"

	"github.com/joncrlsn/dque"

	"github.com/seglog/seglog/bench/workload"
)

// dqueQueue has no acknowledgement: what is taken is gone from the disk before
// its worker has it.
type dqueQueue struct{ *dqueLog }

func openDqueQueue(dir string, s Setting) (workload.Queue, error) {
	l, err := openDque(dir, s)
	if err != nil {
		return nil, err
	}
	return dqueQueue{l.(*dqueLog)}, nil
}

func (q dqueQueue) Push(value []byte) error { return q.Enqueue(&item{value}) }

func (q dqueQueue) Take() (value []byte, ack func() error, ok bool, err error) {
	got, err := q.Dequeue()
	if err == dque.ErrEmpty {
		return nil, nil, false, nil
	}
	if err != nil {
		return nil, nil, false, err
	}
	return got.(*item).Value, func() error { return nil }, true, nil
}

func (q dqueQueue) Wait(ctx context.Context) (value []byte, ack func() error, err error) {
	// Only closing the queue ends its waiting.
	defer context.AfterFunc(ctx, func() { _ = q.DQue.Close() })()
	got, err := q.DequeueBlock()
	if err != nil {
		return nil, nil, err
	}
	return got.(*item).Value, func() error { return nil }, nil
}

func (q dqueQueue) Depth() (int64, error) { return q.Count() }
