package queue

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/seglog/seglog/log"
)

// upkeep is the goroutine that drops what is consumed or too old, and what was
// said of consumers' places before.
type upkeep struct {
	// boundary is the base of the second segment: once all consumers are
	// there, the first can go.
	boundary atomic.Int64
	wake     chan struct{}
	cancel   context.CancelFunc
	ended    chan struct{}
}

const (
	lookAtAge    = time.Second
	lookAtPlaces = time.Second
)

// bound finds the boundary.
func (u *upkeep) bound(l *log.Log) {
	boundary := int64(math.MaxInt64)
	if s := l.Segments(); len(s) > 1 {
		boundary = s[1].Base
	}
	u.boundary.Store(boundary)
}

func (u *upkeep) nudge() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// consumed is told of a consumer's floor.
func (q *Queue) consumed(floor int64) {
	if floor >= q.upkeep.boundary.Load() {
		q.upkeep.nudge()
	}
}

func (q *Queue) startUpkeep() {
	u := &q.upkeep
	u.ended = make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	u.cancel = cancel
	u.nudge()
	go q.runUpkeep(ctx)
}

func (u *upkeep) stop() {
	if u.cancel != nil {
		u.cancel()
		<-u.ended
	}
}

func (q *Queue) runUpkeep(ctx context.Context) {
	defer close(q.upkeep.ended)
	age, places := time.NewTicker(lookAtAge), time.NewTicker(lookAtPlaces)
	defer age.Stop()
	defer places.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-q.upkeep.wake:
			for dropped := true; dropped && err == nil; {
				dropped, err = q.dropConsumed()
			}
		case <-age.C:
			if q.clock.set(); q.opts.MaxAge > 0 {
				err = q.dropAged()
			}
		case <-places.C:
			err = q.shortenPlaces(ctx)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, log.ErrClosed) {
			q.opts.Logger.Error("queue: upkeep failed, it is tried again", "dir", q.dir, "error", err)
		}
	}
}
