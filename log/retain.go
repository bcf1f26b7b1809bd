package log

import (
	"context"
	"errors"

	"github.com/seglog/seglog/retention"
)

// Retain removes the oldest segments that Options.Retention lets go, and
// returns them. Only whole sealed segments go, none beyond the high watermark.
// Without a policy it only tries again to unlink what earlier drops could not.
func (l *Log) Retain(ctx context.Context) ([]SegmentInfo, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	expired, err := l.Expired()
	if err != nil || len(expired) == 0 {
		return nil, errors.Join(err, l.dropBefore(0, ""))
	}
	last := expired[len(expired)-1]
	next := l.set.Load().after(last.Base)
	if next == nil {
		return nil, nil // dropped by someone else in the meantime
	}
	return expired, l.dropBefore(next.Base(), l.opts.Retention.String())
}

// Expired lists the segments that Retain would remove now.
func (l *Log) Expired() ([]SegmentInfo, error) {
	if l.opts.Retention == nil {
		return nil, nil
	}
	infos := l.Segments()
	facts := make([]retention.Segment, len(infos))
	for i, s := range infos {
		facts[i] = retention.Segment{Base: s.Base, Next: s.Next, Bytes: s.Bytes, MaxTime: s.MaxTime}
		if s.MaxTime.IsZero() { // as Kafka does for records without timestamps
			info, err := l.cfg.FS.Stat(s.Path)
			if err != nil {
				return nil, err
			}
			facts[i].MaxTime = info.ModTime()
		}
	}
	n := l.opts.Retention.Expired(facts, l.opts.Env.Now())
	n = min(max(n, 0), len(infos)-1)
	for n > 0 && infos[n-1].Next > l.HighWatermark() {
		n--
	}
	return infos[:n], nil
}
