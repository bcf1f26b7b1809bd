package concurrent

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/seglog/seglog/log"
)

// kind is what a batch of the specification is.
type kind int8

const (
	plain kind = iota
	idempotent
	transactional
	commit
	abort
)

// batch is a batch that was appended. Its records are told by its id.
type batch struct {
	first, next int64
	id          int
	kind        kind
	pid         int64 // of an idempotent or transactional producer, 0 for none
	seq         int32
	epoch       int32 // the leader's
}

func (b batch) marker() bool { return b.kind == commit || b.kind == abort }

type epoch struct {
	epoch int32
	start int64
}

// state is the log as it is specified: what a single goroutine would see that
// does one thing after the other. It is never changed, only copied.
type state struct {
	first, end int64
	durable    int64 // at least; it may move up to end by itself
	hw         int64 // as set, -1 for never
	settled    int64 // the largest high watermark that was ever noted
	epochs     []epoch
	led        int32 // the newest epoch there was, whether or not a cut took it: batches carry it
	batches    []batch
	gone       []int64 // records that compaction was seen to have taken, ascending
	compacts   bool    // a compaction was begun
	closing    bool
	closed     bool
}

func (s *state) highWatermark() int64 {
	if s.hw >= 0 {
		return min(s.hw, s.end)
	}
	return s.end
}

func (s *state) leaderEpoch() int32 {
	if len(s.epochs) == 0 {
		return -1
	}
	return s.epochs[len(s.epochs)-1].epoch
}

// txn is a transaction: of batches [first, last) of its producer.
type txn struct {
	pid         int64
	first, last int64 // last is the marker's offset, -1 while it is open
	aborted     bool
}

func (s *state) txns() (list []txn) {
	open := make(map[int64]int)
	for _, b := range s.batches {
		at, isOpen := open[b.pid]
		switch {
		case b.kind == transactional && !isOpen:
			open[b.pid] = len(list)
			list = append(list, txn{pid: b.pid, first: b.first, last: -1})
		case b.marker() && isOpen:
			list[at].last, list[at].aborted = b.first, b.kind == abort
			delete(open, b.pid)
		}
	}
	return list
}

func (s *state) lastStable() int64 {
	unstable := int64(1<<63 - 1)
	for _, t := range s.txns() {
		if t.last < 0 || t.last >= max(s.highWatermark(), s.settled) {
			unstable = min(unstable, t.first)
		}
	}
	return min(max(unstable, s.first), s.highWatermark())
}

// bound is where a level ends: whole batches only are below it.
func (s *state) bound(level log.Isolation) int64 {
	bound := s.end
	switch level {
	case log.ReadUncommitted:
		bound = s.highWatermark()
	case log.ReadCommitted:
		bound = s.lastStable()
	}
	return bound
}

// readable is bound, or the start of the batch that lies across it.
func (s *state) readable(level log.Isolation) int64 {
	bound := s.bound(level)
	if b, ok := s.holding(bound - 1); ok && b.next > bound {
		return b.first
	}
	return bound
}

// holding is the batch that holds offset.
func (s *state) holding(offset int64) (batch, bool) {
	i, ok := slices.BinarySearchFunc(s.batches, offset, func(b batch, offset int64) int {
		switch {
		case b.next <= offset:
			return -1
		case b.first > offset:
			return 1
		}
		return 0
	})
	if !ok {
		return batch{}, false
	}
	return s.batches[i], true
}

// record is the record that a level shows at offset, if any.
func (s *state) record(level log.Isolation, offset int64) (b batch, ok bool) {
	b, ok = s.holding(offset)
	if !ok || b.marker() || level == log.ReadCommitted && s.aborted(b) {
		return b, false
	}
	_, gone := slices.BinarySearch(s.gone, offset)
	return b, !gone
}

func (s *state) aborted(b batch) bool {
	if b.kind != transactional {
		return false
	}
	return slices.ContainsFunc(s.txns(), func(t txn) bool {
		return t.aborted && t.pid == b.pid && t.first <= b.first && b.first < t.last
	})
}

// without is the state in which compaction has taken all records of [from, to)
// that the level shows and pick picks; nil if it may not have.
func (s *state) without(level log.Isolation, from, to int64, pick func(batch, int64) bool) *state {
	var lost []int64
	for at := max(from, s.first); at < to; at++ {
		b, ok := s.record(level, at)
		if !ok || !pick(b, at) {
			continue
		}
		if !s.compacts || !s.superseded(b, at) {
			return nil
		}
		lost = append(lost, at)
	}
	if lost == nil {
		return s
	}
	next := *s
	next.gone = append(slices.Clone(s.gone), lost...)
	slices.Sort(next.gone)
	return &next
}

func every(batch, int64) bool { return true }

// superseded says whether compaction may take the record: a later one has its
// key, or its transaction was aborted.
func (s *state) superseded(b batch, offset int64) bool {
	if s.aborted(b) {
		return true
	}
	key := keyOf(b.id, int(offset-b.first))
	for _, later := range s.batches {
		if later.next <= offset || later.marker() {
			continue
		}
		for at := max(later.first, offset+1); at < later.next; at++ {
			if keyOf(later.id, int(at-later.first)) == key {
				return true
			}
		}
	}
	return false
}

func equal(a, b any) bool {
	x, y := a.(*state), b.(*state)
	return x == y || x.first == y.first && x.end == y.end && x.durable == y.durable && x.hw == y.hw && x.settled == y.settled && x.led == y.led &&
		x.compacts == y.compacts && x.closing == y.closing && x.closed == y.closed &&
		slices.Equal(x.epochs, y.epochs) && slices.Equal(x.batches, y.batches) && slices.Equal(x.gone, y.gone)
}

var seed = maphash.MakeSeed()

func hash(a any) uint64 {
	s := a.(*state)
	last := 0
	if n := len(s.batches); n > 0 {
		last = s.batches[n-1].id
	}
	return maphash.Comparable(seed, [...]int64{s.first, s.end, s.durable, s.hw, int64(len(s.batches)), int64(last), int64(len(s.gone))})
}

func (s *state) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d, %d) durable %d hw %d lso %d epochs %v", s.first, s.end, s.durable, s.highWatermark(), s.lastStable(), s.epochs)
	for _, x := range s.batches {
		fmt.Fprintf(&b, " %d-%d#%d", x.first, x.next, x.id)
	}
	if len(s.gone) > 0 {
		fmt.Fprintf(&b, " gone %v", s.gone)
	}
	return b.String()
}

// model is what histories are checked against.
var model = porcupine.Model{
	Init: func() any { return &state{hw: -1} },
	Step: func(s, in, out any) (bool, any) {
		next := in.(op).step(s.(*state), out.(result))
		return next != nil, next
	},
	Equal:             equal,
	Hash:              hash,
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%v: %v", in, out) },
	DescribeState:     func(s any) string { return s.(*state).String() },
}
