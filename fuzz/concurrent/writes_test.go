package concurrent

import (
	"fmt"
	"slices"
)

// op is an operation of the specification: what it makes of a state, nil where
// its result cannot be.
type op interface {
	step(s *state, out result) *state
}

// result is what an operation returned.
type result struct {
	err    string // "" for none: see errName
	offset int64
	dup    bool
	id     int // of the record's batch
	index  int // of the record in its batch
	view   *view
}

func (r result) String() string {
	if r.err != "" {
		return r.err
	}
	text := fmt.Sprint(r.offset)
	if r.dup {
		text += " again"
	}
	if r.id != 0 {
		text += fmt.Sprintf(" #%d/%d", r.id, r.index)
	}
	if r.view != nil {
		text += fmt.Sprint(" ", r.view.batches)
	}
	return text
}

// change is a copy of s to be changed by a write with that result; nil where the
// result is not success, and then the step is decided.
func (s *state) change(out result) (next *state, decided *state) {
	switch {
	case out.err == "closed" && s.closing:
		return nil, s
	case out.err != "" || s.closing:
		return nil, nil
	}
	next = new(state)
	*next = *s
	return next, nil
}

// settle is called where the engine looks which transactions are replicated.
func (s *state) settle() { s.settled = max(s.settled, s.highWatermark()) }

// add appends a batch of n records.
func (s *state) add(b batch, n int) {
	if s.leaderEpoch() < s.led {
		s.epochs = append(cutEpochs(s.epochs, s.end), epoch{s.led, s.end})
	}
	b.first, b.next, b.epoch = s.end, s.end+int64(n), s.led
	s.batches = append(s.batches[:len(s.batches):len(s.batches)], b)
	s.end = b.next
	if b.kind >= transactional {
		s.settle()
	}
}

// appendOp is Append of n records.
type appendOp struct{ id, n int }

func (o appendOp) step(s *state, out result) *state {
	next, decided := s.change(out)
	if next == nil || out.offset != s.end {
		return decided
	}
	next.add(batch{id: o.id}, o.n)
	return next
}

// batchOp is AppendBatch of a producer.
type batchOp struct {
	id, n int
	kind  kind
	pid   int64
	seq   int32
}

func (o batchOp) step(s *state, out result) *state {
	var known []batch
	any, last := false, int32(-1)
	for _, b := range s.batches {
		if b.pid == o.pid {
			if any = true; !b.marker() {
				known = append(known, b)
				last = b.seq + int32(b.next-b.first) - 1
			}
		}
	}
	for _, b := range known[max(len(known)-5, 0):] {
		if b.seq == o.seq && b.next-b.first == int64(o.n) && !s.closing {
			if out.err == "" && out.dup && out.offset == b.first {
				return s
			}
			return nil
		}
	}
	if any && o.seq != last+1 && !s.closing {
		if out.err == "out of order" {
			return s
		}
		return nil
	}
	next, decided := s.change(out)
	if next == nil || out.dup || out.offset != s.end {
		return decided
	}
	next.add(batch{id: o.id, kind: o.kind, pid: o.pid, seq: o.seq}, o.n)
	return next
}

// endOp is EndTransaction.
type endOp struct {
	id   int
	pid  int64
	kind kind
}

func (o endOp) step(s *state, out result) *state {
	next, decided := s.change(out)
	if next == nil || out.offset != s.end {
		return decided
	}
	next.add(batch{id: o.id, kind: o.kind, pid: o.pid}, 1)
	return next
}

// syncOp is Sync of a log that ended at upTo or above when it was called, or
// the half of AppendSync that waits.
type syncOp struct{ upTo int64 }

func (o syncOp) step(s *state, out result) *state {
	if out.err == "beyond" { // what it waited for was cut off, which Sync looked at after it was called
		return s
	}
	if out.err == "closed" && s.closing {
		return s
	}
	if out.err != "" || o.upTo > s.end {
		return nil
	}
	next := new(state) // of a closing log, too: Close syncs for those who wait
	*next = *s
	next.durable = max(s.durable, o.upTo)
	return next
}

type setHighWatermarkOp struct{ to int64 }

func (o setHighWatermarkOp) step(s *state, out result) *state {
	next, decided := s.change(out)
	if next == nil {
		return decided
	}
	next.hw = min(max(o.to, s.first), s.end)
	next.settle()
	return next
}

type setLeaderEpochOp struct{ to int32 }

func (o setLeaderEpochOp) step(s *state, out result) *state {
	next, decided := s.change(out)
	if next == nil {
		return decided
	}
	if o.to > s.leaderEpoch() {
		next.epochs = append(cutEpochs(s.epochs, s.end), epoch{o.to, s.end})
		next.led = max(s.led, o.to)
	}
	return next
}

// cutEpochs are those that begin below end.
func cutEpochs(list []epoch, end int64) []epoch {
	n := len(list)
	for n > 0 && list[n-1].start >= end {
		n--
	}
	return list[:n:n]
}

type dropBeforeOp struct{ offset int64 }

func (o dropBeforeOp) step(s *state, out result) *state {
	if out.err == "beyond" {
		if o.offset > s.highWatermark() {
			return s
		}
		return nil
	}
	next, decided := s.change(out)
	if next == nil || o.offset > s.end { // the high watermark was looked at a moment before
		return decided
	}
	next.dropBefore(o.offset)
	return next
}

func (s *state) dropBefore(offset int64) {
	if offset <= s.first {
		return
	}
	s.first, s.durable = offset, max(s.durable, offset)
	n := 0
	for n < len(s.epochs) && s.epochs[n].start <= offset {
		n++
	}
	if n > 0 {
		s.epochs = slices.Clone(s.epochs[n-1:])
		s.epochs[0].start = offset
	}
	s.settle()
}

type dropFromOp struct{ offset int64 }

func (o dropFromOp) step(s *state, out result) *state {
	if out.err == "trimmed" {
		if o.offset < s.first {
			return s
		}
		return nil
	}
	next, decided := s.change(out)
	if next == nil || o.offset < s.first {
		return decided
	}
	if o.offset >= s.end {
		return s
	}
	b, _ := s.holding(o.offset) // there are no gaps
	n, _ := slices.BinarySearchFunc(s.batches, b.first, func(b batch, first int64) int { return int(b.first - first) })
	next.batches = s.batches[:n:n]
	next.end = max(b.first, s.first)
	next.durable = min(s.durable, next.end)
	if s.hw >= 0 {
		next.hw = min(s.hw, next.end)
	}
	next.epochs = cutEpochs(s.epochs, next.end)
	next.settled = 0
	next.settle()
	return next
}

// retainOp is Retain below a floor. The result is the new First, -1 if nothing
// was to go.
type retainOp struct{ floor int64 }

func (o retainOp) step(s *state, out result) *state {
	next, decided := s.change(out)
	switch {
	case next == nil:
		return decided
	case out.offset < 0:
		return s
	case out.offset > o.floor || out.offset > s.end:
		return nil
	}
	next.dropBefore(out.offset)
	return next
}

// compactOp is Compact. Reads say what it took.
type compactOp struct{}

func (compactOp) step(s *state, out result) *state {
	if out.err != "" && out.err != "closed" { // Close stops it, before all else
		return nil
	}
	next := *s
	next.compacts = true
	return &next
}

// closingOp and closedOp are the two ends of Close: from the first on writes
// may be refused, from the second on everything is.
type closingOp struct{}

func (closingOp) step(s *state, _ result) *state {
	next := *s
	next.closing = true
	return &next
}

type closedOp struct{}

func (closedOp) step(s *state, _ result) *state {
	if !s.closing {
		return nil
	}
	next := *s
	next.closed, next.durable = true, s.end
	return &next
}

// openOp is opening it again. The high watermark is End again, as nobody
// replicates it.
type openOp struct{}

func (openOp) step(s *state, _ result) *state {
	if !s.closed {
		return nil
	}
	next := *s
	next.closing, next.closed, next.hw = false, false, -1
	next.led = max(next.leaderEpoch(), 0)
	next.settle()
	return &next
}
