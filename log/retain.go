package log

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/seglog/seglog/retention"
	"github.com/seglog/seglog/segment"
)

// Retain removes the oldest segments that may go, and returns them: those below
// the log start offset, which a crash may have left, and those that
// Options.Retention lets go. Only whole segments go, none beyond the high
// watermark. If all of them may, a new one is begun first, and the log is empty
// at its End. Files of earlier drops are unlinked that are due.
func (l *Log) Retain(ctx context.Context) ([]SegmentInfo, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := l.writable(); err != nil {
		return nil, err
	}
	failed := l.unlinkDue() // which keeps no other from going
	var dropped []SegmentInfo
	if len(l.endBelow(l.First())) > 0 {
		var err error
		if dropped, err = l.dropIf(func() bool { return true }, 0, reasonLogStart); err != nil {
			return dropped, errors.Join(failed, err)
		}
	}
	more, err := l.retain()
	return append(dropped, more...), errors.Join(failed, err)
}

// retain drops what the policy lets go.
func (l *Log) retain() ([]SegmentInfo, error) {
	for {
		set := l.set.Load()
		infos := l.infos(set)
		policy := l.settings.Load().Retention
		n, err := l.letGo(policy, infos)
		if err != nil || n == 0 {
			return nil, err
		}
		if n == len(infos) {
			var ended bool
			if ended, err = l.endActive(infos[n-1]); !ended {
				n--
			}
			if n == 0 {
				return nil, err
			}
		}
		offset := infos[n-1].Next
		if n < len(infos) {
			offset = infos[n].Base
		}
		// The policy is the caller's, so it was asked with nothing held. What it
		// said holds if these segments are still the oldest ones.
		judged := set.all()[:min(n+1, len(infos))]
		dropped, dropErr := l.dropIf(func() bool { return l.beginsWith(judged) }, offset, policy.String())
		if dropErr != errOvertaken {
			return dropped, errors.Join(err, dropErr)
		}
	}
}

// beginsWith says whether those are the log's oldest segments.
func (l *Log) beginsWith(segments []*segment.Segment) bool {
	set := l.set.Load()
	at := set.oldest()
	for _, s := range segments {
		if at != s {
			return false
		}
		at = set.after(s.Base())
	}
	return true
}

const reasonLogStart = "below the log start offset"

// Expired lists the segments that Retain would remove now.
func (l *Log) Expired() ([]SegmentInfo, error) {
	infos := l.Segments()
	first, below := l.First(), 0
	for below < len(infos)-1 && infos[below+1].Base <= first {
		below++ // Retain asks the policy about the others, once these are gone
	}
	n, err := l.letGo(l.settings.Load().Retention, infos[below:])
	if err != nil {
		return nil, err
	}
	return infos[:below+n], nil
}

// letGo says how many of the oldest segments may go by the policy.
func (l *Log) letGo(policy retention.Policy, infos []SegmentInfo) (int, error) {
	if policy == nil {
		return 0, nil
	}
	facts := make([]retention.Segment, len(infos))
	for i, s := range infos {
		facts[i] = retention.Segment{Base: s.Base, Next: s.Next, Bytes: s.Bytes, MaxTime: s.MaxTime}
		if s.MaxTime.IsZero() { // as Kafka does for records without timestamps
			changed, err := l.changed(s)
			if err != nil {
				return 0, err
			}
			facts[i].MaxTime = changed
		}
	}
	n := min(max(policy.Expired(facts, l.opts.Env.Now()), 0), len(infos))
	if n == len(infos) && infos[n-1].Bytes == 0 {
		n-- // an empty one in its place would be no different
	}
	for watermark := l.HighWatermark(); n > 0; n-- {
		upper := infos[n-1].Next
		if n < len(infos) {
			upper = infos[n].Base
		}
		if upper <= watermark {
			break
		}
	}
	return n, nil
}

// endActive begins a new segment, so that the active one can be dropped, unless
// it was appended to since it was looked at.
func (l *Log) endActive(was SegmentInfo) (ended bool, err error) {
	if err := l.mark(); err != nil {
		return false, err
	}
	if ended, err = l.endIfStill(was); ended {
		tell(l, l.opts.Trace.Rolled, RollEvent{Base: was.Next, Reason: "retention"})
	}
	return ended, err
}

func (l *Log) endIfStill(was SegmentInfo) (ended bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writableLocked(); err != nil {
		return false, err
	}
	if s := l.mu.active; s.Base() != was.Base || s.Next() != was.Next {
		return false, nil
	}
	err = l.rollLocked(0)
	return err == nil, err
}

// changed is when a segment without timestamps was changed last. The time of a
// file that is mapped is behind what was stored to it, by as long as the system
// keeps it in memory; so of the active one it is when it was seen to be longer
// than before, if it was.
func (l *Log) changed(s SegmentInfo) (time.Time, error) {
	at, err := l.modified(s.Path)
	if err != nil || !s.Active {
		return at, err
	}
	l.grown.Lock()
	defer l.grown.Unlock()
	if l.grown.end != s.Next {
		l.grown.end, l.grown.seen = s.Next, l.opts.Env.Now()
	}
	if l.grown.seen.After(at) {
		at = l.grown.seen
	}
	return at, nil
}

// modified is when a file was changed last; now if it is not there: its segment
// is being dropped or replaced this moment.
func (l *Log) modified(name string) (time.Time, error) {
	info, err := l.cfg.FS.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l.opts.Env.Now(), nil
	case err != nil:
		return time.Time{}, err
	}
	return info.ModTime(), nil
}
