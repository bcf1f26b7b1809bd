package producer

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/seglog/seglog/record"
)

// producerID is who a batch's sequence numbers are of.
type producerID struct {
	id    int64
	epoch int16
}

// sendState is what the sender knows of a batch.
type sendState struct {
	numbered bool // has producer and sequence; implies that it was sent
	producer producerID
	sequence int32
	ordinal  int       // counts batches as sequence counts records
	sent     bool      // once at least
	flying   bool      // the sink has it
	attempts int       // that failed
	node     Node      // of the last attempt
	retryAt  time.Time // no other before, unless another node leads now
	doubt    bool      // an attempt failed in a way that may have stored it
	over     bool      // done by a time-out while flying
}

// sending is what the sender knows of a partition. Its numbers follow one
// another without a gap: a log takes a batch if its sequence is the one after
// the last it took, and that is how nothing is stored twice or out of order.
//
// A number is not used for other records unless the log is known to have
// refused it: after a record's time-out nobody knows that. Then, and where the
// log lost track, the epoch is raised and numbers begin at 0 (KIP-360), but only
// when nothing is flying, so that no batch with an old number comes later.
type sending struct {
	producer   producerID // of the numbers; id 0 and epoch 0 before the first
	begun      bool       // producer is set
	next       int32      // the next batch's sequence
	acked      bool       // one was acknowledged since numbers began at 0
	lastAcked  int32      // its last sequence
	logStart   int64      // of the partition, the latest seen
	ordinal    int        // of the next batch
	numbered   []*batch   // numbered and not answered for good, by sequence
	flying     int        // how many batches the sink has
	unresolved bool       // one that had been sent timed out
	restart    bool       // the epoch is to be raised
	refused    bool       // and none of the numbered batches is stored
}

// number gives b the partition's next number.
func (s *sending) number(b *batch, id producerID) {
	if !s.begun || s.producer != id && len(s.numbered) == 0 {
		*s = sending{producer: id, begun: true, flying: s.flying, logStart: s.logStart}
	}
	b.numbered, b.producer, b.sequence, b.ordinal = true, s.producer, s.next, s.ordinal
	s.next = plus(s.next, b.count)
	s.ordinal++
	s.numbered = append(s.numbered, b)
}

// mayNumber says whether a batch may get a new number now. A log knows the last
// five batches of a producer again: one that is sent again must be among them.
func (s *sending) mayNumber() bool {
	return !s.restart && !s.unresolved && (len(s.numbered) == 0 || s.ordinal-s.numbered[0].ordinal < remembered)
}

// mayFly says whether a batch that has its number may be sent again: the others
// wait until it is known what became of those before.
func (s *sending) mayFly(b *batch) bool { return !s.restart && s.numbered[0] == b }

// took notes that the log has b.
func (s *sending) took(b *batch) {
	s.acked, s.lastAcked = true, plus(b.sequence, b.count-1)
	s.forget(b)
}

// refusedFirst notes that the log has refused the first of the numbered batches,
// so that it has none of the others either, whatever is heard of them. The
// epoch is raised for them.
func (s *sending) refusedFirst() { s.refused, s.restart = true, true }

// doubtful takes out the numbered batches that the log may have. To send them
// in a new epoch might store them twice.
func (s *sending) doubtful() (list []*batch) {
	if s.refused {
		return nil
	}
	s.numbered = slices.DeleteFunc(s.numbered, func(b *batch) bool {
		if b.doubt {
			list = append(list, b)
		}
		return b.doubt
	})
	return list
}

// saw notes what an answer says of the partition.
func (s *sending) saw(r Result) { s.logStart = max(s.logStart, r.LogStart) }

// forget takes b out of those that wait for an answer.
func (s *sending) forget(b *batch) {
	if i := slices.Index(s.numbered, b); i >= 0 {
		s.numbered = slices.Delete(s.numbered, i, i+1)
	}
}

// replace puts the parts of b, which the log refused, in its place. They have
// its numbers.
func (s *sending) replace(b *batch, parts []*batch) {
	sequence := b.sequence
	for _, part := range parts {
		part.numbered, part.producer, part.sequence, part.ordinal = true, b.producer, sequence, b.ordinal
		sequence = plus(sequence, part.count)
	}
	i := slices.Index(s.numbered, b)
	s.numbered = slices.Replace(s.numbered, i, i+1, parts...)
}

// settle decides what was left open, once nothing is flying. It is true if the
// epoch has to be raised now.
func (s *sending) settle() (raise bool) {
	switch {
	case s.flying > 0:
		return false
	case s.restart:
		return true
	case s.unresolved && len(s.numbered) == 0:
		// All that came behind it was taken, or nothing came.
		s.unresolved = !s.acked || plus(s.lastAcked, 1) != s.next
		return s.unresolved
	}
	return false
}

// begin starts numbers at 0 in a new epoch, with the batches that have numbers.
func (s *sending) begin(id producerID) {
	again := s.numbered
	*s = sending{producer: id, begun: true, logStart: s.logStart}
	for _, b := range again {
		b.doubt = false
		s.number(b, id)
		record.SetProducer(b.raw, b.identity())
	}
}

func (b *batch) identity() record.Producer {
	return record.Producer{ID: b.producer.id, Epoch: b.producer.epoch, Sequence: b.sequence}
}

// compare orders numbered batches of one partition before those without.
func (b *batch) compare(other *batch) int {
	switch {
	case !b.numbered:
		return 1
	case !other.numbered:
		return -1
	}
	// Numbers go round, but those that are about are far fewer than half.
	const half = 1 << 30
	return cmp.Compare((b.sequence-other.sequence+half)&math.MaxInt32, half)
}

// plus counts sequence numbers, of which 0 follows 2^31-1.
func plus(sequence, n int32) int32 {
	return int32((int64(sequence) + int64(n)) & math.MaxInt32)
}
