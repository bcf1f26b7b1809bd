package concurrent

import (
	"fmt"
	"slices"
	"time"

	"github.com/seglog/seglog/log"
)

// mark is a watermark that is read.
type mark int8

const (
	first mark = iota
	end
	highWatermark
	durable
	lastStable
	leaderEpoch
)

func (m mark) String() string {
	return [...]string{"First", "End", "HighWatermark", "Durable", "LastStable", "LeaderEpoch"}[m]
}

// markOp reads a watermark, of a closed log, too.
type markOp struct{ mark }

func (o markOp) step(s *state, out result) *state {
	if o.mark == durable {
		if out.offset < s.durable || out.offset > s.end {
			return nil
		}
		next := *s
		next.durable = out.offset
		return &next
	}
	var want int64
	switch o.mark {
	case first:
		want = s.first
	case end:
		want = s.end
	case highWatermark:
		want = s.highWatermark()
	case lastStable:
		want = s.lastStable()
	case leaderEpoch:
		want = int64(s.leaderEpoch())
	}
	if out.offset != want {
		return nil
	}
	return s
}

// refused decides steps of reads that are alike. bound is where the level's
// records end.
func (s *state) refused(out result, offset, bound int64) (next *state, decided bool) {
	ok := false
	switch out.err {
	case "closed":
		ok = s.closing
	case "trimmed":
		ok = offset < s.first
	case "beyond":
		ok = offset >= bound
	case "":
		return nil, s.closed || offset < s.first
	default:
		return nil, false
	}
	if ok {
		return s, true
	}
	return nil, true
}

// has says whether the level shows at the result's offset the result's record.
func (s *state) has(level log.Isolation, out result) bool {
	b, ok := s.record(level, out.offset)
	return ok && out.offset < s.readable(level) && b.id == out.id && out.offset-b.first == int64(out.index)
}

type readOp struct {
	level  log.Isolation
	offset int64
}

func (o readOp) step(s *state, out result) *state {
	bound := s.readable(o.level)
	if next, decided := s.refused(out, o.offset, bound); decided {
		return next
	}
	switch {
	case out.err == "no record" && s.first <= o.offset && o.offset < bound && !s.closed:
		return s.without(o.level, o.offset, o.offset+1, every)
	case out.err == "" && out.offset == o.offset && s.has(o.level, out):
		return s
	}
	return nil
}

// walkOp is one step of a walk, which has come to at.
type walkOp struct {
	level log.Isolation
	at    int64
}

func (o walkOp) step(s *state, out result) *state {
	if next, decided := s.refused(out, o.at, s.end+1); decided {
		return next
	}
	if out.err == "eof" && !s.closed {
		return s.without(o.level, o.at, s.readable(o.level), every)
	}
	if out.err != "" || out.offset < o.at || !s.has(o.level, out) {
		return nil
	}
	return s.without(o.level, o.at, out.offset, every)
}

// view is what was borrowed.
type view struct {
	batches []borrowed
	records []result // offset, id and index
}

type borrowed struct {
	first, next int64
	epoch       int32
	marker      bool
}

type borrowOp struct {
	level  log.Isolation
	offset int64
}

func (o borrowOp) step(s *state, out result) *state {
	if next, decided := s.refused(out, o.offset, s.end+1); decided {
		return next
	}
	if out.err == "eof" && !s.closed {
		return s.without(o.level, o.offset, s.readable(o.level), every)
	}
	if out.err != "" || len(out.view.batches) == 0 {
		return nil
	}
	at := o.offset
	for i, seen := range out.view.batches {
		b, ok := s.holding(seen.next - 1)
		if !ok || seen.first < b.first || seen.next != b.next || seen.epoch != b.epoch || seen.marker != b.marker() {
			return nil
		}
		inOrder := seen.next > at && (i == 0 || seen.first >= at)
		if !inOrder || !s.compacts && (seen.first != b.first || seen.first > at) {
			return nil
		}
		at = seen.next
	}
	if at > s.readable(o.level) {
		return nil
	}
	for _, r := range out.view.records {
		if !s.has(log.UpToEnd, r) {
			return nil
		}
	}
	return s.without(log.UpToEnd, o.offset, at, func(_ batch, offset int64) bool {
		return !slices.ContainsFunc(out.view.records, func(r result) bool { return r.offset == offset })
	})
}

type offsetAtOp struct{ t time.Time }

func (o offsetAtOp) String() string { return fmt.Sprintf("{OffsetAt %d}", o.t.UnixMilli()) }

func (o offsetAtOp) step(s *state, out result) *state {
	late := func(b batch, offset int64) bool { return !timeOf(b.id, int(offset-b.first)).Before(o.t) }
	switch {
	case out.err == "closed" && s.closing:
		return s
	case out.err != "" || s.closed || out.offset < s.first || out.offset > s.end:
		return nil
	}
	if b, ok := s.record(log.UpToEnd, out.offset); out.offset < s.end && (!ok || !late(b, out.offset)) {
		return nil
	}
	return s.without(log.UpToEnd, s.first, out.offset, late)
}
