package compact

import (
	"math"
	"time"
)

// Segment is what a plan may know of a segment.
type Segment struct {
	Base      int64 // base offset
	Bytes     int64 // size of its .log
	FirstTime int64 // ms, largest timestamp of its first batch, -1 for none
	MaxTime   int64 // ms, largest timestamp, or the file's modification time where no record has one
}

// State is a log as it is when a plan is made.
type State struct {
	Segments   []Segment // oldest first, the active one last
	LogStart   int64
	LogEnd     int64
	LastStable int64 // no transaction below it is open
	FirstDirty int64 // as it was noted after the last cleaning, 0 if it was not
	Now        time.Time
}

// Reason says why something was not compacted.
type Reason string

// Why nothing was compacted, or why a plan ends where it does.
const (
	NothingDirty   Reason = "nothing is dirty: no sealed segment was added since the last cleaning"
	ActiveSegment  Reason = "the active segment is never compacted"
	OpenTxn        Reason = "the last stable offset: a transaction is open, or the high watermark is behind"
	TooYoung       Reason = "a segment is younger than MinLag"
	ChangedBeneath Reason = "segments were dropped while they were compacted"
)

// Plan is what there is to compact. [FirstDirty, End) is dirty; End is the base
// of a segment.
type Plan struct {
	FirstDirty int64
	End        int64
	EndedBy    Reason // what keeps End from being larger
	CleanBytes int64  // of the segments that begin below FirstDirty
	DirtyBytes int64  // of those from the one that holds FirstDirty up to End
	Overdue    bool   // something dirty is older than MaxLag
	Due        bool   // it is worth it: overdue, or the ratio is above MinDirtyRatio
	Skip       Reason // why nothing can be compacted; "" if something can
}

// Ratio is the dirty share of the bytes that could be compacted, 0 to 1.
func (p Plan) Ratio() float64 {
	if p.DirtyBytes == 0 {
		return 0
	}
	return float64(p.DirtyBytes) / float64(p.CleanBytes+p.DirtyBytes)
}

// Plan says what there is to compact, and whether it is worth it
// (LogCleanerManager.cleanableOffsets and grabFilthiestCompactedLog in Kafka).
func (o Options) Plan(s State) Plan {
	p := Plan{FirstDirty: s.FirstDirty}
	if p.FirstDirty < s.LogStart || p.FirstDirty > s.LogEnd {
		p.FirstDirty = s.LogStart
	}
	sealed := s.Segments[:len(s.Segments)-1]
	p.End, p.EndedBy = s.Segments[len(sealed)].Base, ActiveSegment
	dirty := sealed[holding(sealed, p.FirstDirty):]
	if s.LastStable < p.End {
		p.End, p.EndedBy = baseBelow(s.Segments, s.LastStable), OpenTxn
	}
	if young, ok := firstYounger(dirty, s.Now, o.MinLag); ok && young < p.End {
		p.End, p.EndedBy = young, TooYoung
	}
	p.End = max(p.End, p.FirstDirty)
	for _, x := range sealed {
		if x.Base < p.FirstDirty {
			p.CleanBytes += x.Bytes
		}
	}
	for _, x := range dirty {
		if x.Base < p.End {
			p.DirtyBytes += x.Bytes
		}
	}
	if p.End == p.FirstDirty {
		p.DirtyBytes = 0
	}
	p.Overdue = overdue(dirty, s.Now, o.MaxLag)
	switch {
	case p.DirtyBytes == 0 && p.EndedBy == ActiveSegment:
		p.Skip = NothingDirty
	case p.DirtyBytes == 0:
		p.Skip = p.EndedBy
	default:
		p.Due = p.Overdue || p.Ratio() > o.MinDirtyRatio
	}
	return p
}

// holding is the index of the segment that holds offset, 0 if all begin above.
func holding(segments []Segment, offset int64) int {
	for i := len(segments) - 1; i > 0; i-- {
		if segments[i].Base <= offset {
			return i
		}
	}
	return 0
}

func baseBelow(segments []Segment, offset int64) int64 {
	return segments[holding(segments, offset)].Base
}

// firstYounger is the base of the first segment younger than lag.
func firstYounger(segments []Segment, now time.Time, lag time.Duration) (base int64, ok bool) {
	if lag == 0 {
		return 0, false
	}
	for _, s := range segments {
		if s.MaxTime > now.UnixMilli()-lag.Milliseconds() {
			return s.Base, true
		}
	}
	return 0, false
}

// overdue says whether the first batch of a segment is older than lag. Batches
// without a timestamp have no age.
func overdue(segments []Segment, now time.Time, lag time.Duration) bool {
	if lag == math.MaxInt64 {
		return false
	}
	for _, s := range segments {
		if s.FirstTime > 0 && s.FirstTime < now.UnixMilli()-lag.Milliseconds() {
			return true
		}
	}
	return false
}
