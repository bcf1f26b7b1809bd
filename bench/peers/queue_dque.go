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

func (q dqueQueue) Take() (value []byte, ok bool, err error) {
	got, err := q.Dequeue()
	if err == dque.ErrEmpty {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return got.(*item).Value, true, nil
}

func (q dqueQueue) Ack() error { return nil }

func (q dqueQueue) Wait(ctx context.Context) (value []byte, err error) {
	// Only closing the queue ends its waiting.
	defer context.AfterFunc(ctx, func() { _ = q.DQue.Close() })()
	got, err := q.DequeueBlock()
	if err != nil {
		return nil, err
	}
	return got.(*item).Value, nil
}

func (q dqueQueue) Depth() (int64, error) { return q.Count() }
