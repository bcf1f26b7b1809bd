package log

import (
	"time"

	"github.com/seglog/seglog/segment"
)

// SegmentInfo is a segment as it is now.
type SegmentInfo struct {
	Base      int64     // base offset
	Next      int64     // offset after its last record
	Bytes     int64     // of its .log
	FirstTime time.Time // largest timestamp of its first batch; zero where that has none
	MaxTime   time.Time // largest timestamp of its records; zero where none has one
	Path      string    // of its .log
	Active    bool      // it takes appends
}

// Stats are figures of the log as it is now.
type Stats struct {
	First, HighWatermark, Durable, End int64

	Segments int
	Bytes    int64 // of all .log files
	Mapped   int   // sealed segments mapped
	Pins     int64 // Views and reads in progress
}

func (l *Log) info(s *segment.Segment) SegmentInfo {
	i := SegmentInfo{Base: s.Base(), Next: s.Next(), Bytes: s.Size(), Path: s.Path()}
	i.FirstTime, i.MaxTime = fromMillis(s.FirstTime()), fromMillis(s.MaxTime())
	return i
}

// Segments lists the segments, oldest first, the active one last.
func (l *Log) Segments() []SegmentInfo { return l.infos(l.set.Load()) }

func (l *Log) infos(set *set) []SegmentInfo {
	all := set.all()
	infos := make([]SegmentInfo, len(all))
	for i, s := range all {
		infos[i] = l.info(s)
	}
	infos[len(infos)-1].Active = l.opts.Mode != ReadOnly
	return infos
}

// Stats gathers figures; it takes no lock and time in the number of segments.
func (l *Log) Stats() Stats {
	s := atOnce(l, func(l *Log) Stats {
		return Stats{First: l.first.Load(), HighWatermark: l.highWatermarkNow(), Durable: l.durable.Load(), End: l.end.Load()}
	})
	s.Mapped = l.cfg.Cache.Mapped()
	for _, seg := range l.set.Load().all() {
		s.Segments++
		s.Bytes += seg.Size()
		s.Pins += seg.PinsHeld()
	}
	return s
}

func fromMillis(ms int64) time.Time {
	if ms < 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
