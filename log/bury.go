package log

import (
	"errors"
	"sync"
	"time"

	"github.com/seglog/seglog/segment"
)

// graves are the files of segments that left the log and are still there.
// Unlinking a large file takes its time, and nobody who syncs waits for it.
type graves struct {
	// names is read-locked, before commit is given up, by who removes files of
	// segments; whoever makes files that may have the same names locks it.
	names sync.RWMutex

	mu struct {
		sync.Mutex
		undead []*segment.Segment // they could not be removed
		buried []buried           // they were renamed to what recovery unlinks
	}
}

// buried is a segment whose files stay until a time.
type buried struct {
	segment *segment.Segment
	until   time.Time
}

// take empties the lists, but for those buried that are not due.
func (g *graves) take(due func(buried) bool) (undead []*segment.Segment, ripe []buried) {
	g.mu.Lock()
	defer g.mu.Unlock()
	undead, g.mu.undead = g.mu.undead, nil
	var rest []buried
	for _, b := range g.mu.buried {
		if due(b) {
			ripe = append(ripe, b)
		} else {
			rest = append(rest, b)
		}
	}
	g.mu.buried = rest
	return undead, ripe
}

func (g *graves) put(undead []*segment.Segment, some []buried) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.undead, g.mu.buried = append(g.mu.undead, undead...), append(g.mu.buried, some...)
}

func (l *Log) due(b buried) bool { return !b.until.After(l.opts.Env.Now()) }

func always(buried) bool { return true }

func never(buried) bool { return false }

// bury removes the files of segments taken out now: at once or, where Options has
// a delay, by renaming them. It tries again what could not be removed before, and
// unlinks those of the buried that are due. The caller has names.
func (l *Log) bury(victims []*segment.Segment, due func(buried) bool) error {
	undead, ripe := l.graves.take(due)
	delay := l.settings.Load().DeleteDelay
	var errs []error
	var left []*segment.Segment
	var some []buried
	for _, s := range append(undead, victims...) {
		var err error
		if delay == 0 {
			err = s.Remove()
		} else if err = s.Retire(); err == nil {
			some = append(some, buried{s, l.opts.Env.Now().Add(delay)})
		}
		if err != nil {
			errs, left = append(errs, err), append(left, s)
		}
	}
	for _, b := range ripe {
		if err := b.segment.RemoveRetired(); err != nil {
			errs, some = append(errs, err), append(some, b)
		}
	}
	l.graves.put(left, some)
	return errors.Join(errs...)
}

// makeRoom unlinks segments of which the checkpoint says that they are there, and
// all of the buried. The oldest goes first, and its name durably: of names that
// are not a power cut may keep any, and one missing behind another is damage. The
// caller has names.
func (l *Log) makeRoom(victims []*segment.Segment) error {
	undead, ripe := l.graves.take(always)
	var errs []error
	var some []buried
	for _, b := range ripe {
		if err := b.segment.RemoveRetired(); err != nil {
			errs, some = append(errs, err), append(some, b)
		}
	}
	left := append(undead, victims...)
	for len(left) > 0 {
		err := left[0].Remove()
		if err == nil {
			left = left[1:]
			err = l.syncNames()
		}
		if err != nil {
			errs = append(errs, err)
			break
		}
	}
	l.graves.put(left, some)
	return errors.Join(errs...)
}

// unlinkDue is bury for upkeep.
func (l *Log) unlinkDue() error {
	l.graves.names.RLock()
	defer l.graves.names.RUnlock()
	return l.bury(nil, l.due)
}
