package producers

import "math"

// kept is how many batches of a producer are remembered, as many as a producer
// may have in flight (max.in.flight.requests.per.connection with idempotence).
const kept = 5

// none stands for an epoch, a sequence or an offset that is not there, as on
// the wire and in the file.
const none = -1

// batch is what is remembered of a data batch.
type batch struct {
	lastSequence int32
	lastOffset   int64
	offsetDelta  int32 // last offset minus base offset
	timestamp    int64 // ms, the batch's largest
}

func (b batch) firstSequence() int32 { return back(b.lastSequence, b.offsetDelta) }
func (b batch) firstOffset() int64   { return b.lastOffset - int64(b.offsetDelta) }

// back is the sequence number n before s. Sequence numbers are 31 bits and
// wrap.
func back(s, n int32) int32 { return int32(uint32(s-n) & math.MaxInt32) }

// follows says whether sequence next comes right after last; last may be none.
func follows(last, next int32) bool {
	return int64(next) == int64(last)+1 || next == 0 && last == math.MaxInt32
}

// producer is the state of one producer id.
type producer struct {
	epoch            int16
	coordinatorEpoch int32
	timestamp        int64 // ms, of the last batch or marker
	txnFirst         int64 // where the open transaction began, or none
	batches          [kept]batch
	n                int // batches in use, the oldest first
}

func newProducer() *producer {
	return &producer{epoch: none, coordinatorEpoch: none, timestamp: none, txnFirst: none}
}

// last is the newest remembered batch.
func (p *producer) last() (batch, bool) {
	if p.n == 0 {
		return batch{}, false
	}
	return p.batches[p.n-1], true
}

func (p *producer) lastSequence() int32 {
	if b, ok := p.last(); ok {
		return b.lastSequence
	}
	return none
}

// setEpoch begins another epoch, of which no batch is known.
func (p *producer) setEpoch(epoch int16) {
	if p.epoch != epoch {
		p.epoch, p.n = epoch, 0
	}
}

func (p *producer) push(b batch) {
	if p.n == kept {
		copy(p.batches[:], p.batches[1:])
		p.n--
	}
	p.batches[p.n] = b
	p.n++
	p.timestamp = b.timestamp
}

// duplicate is the remembered batch with those sequences.
func (p *producer) duplicate(epoch int16, first, last int32) (batch, bool) {
	if p.epoch != epoch {
		return batch{}, false
	}
	for _, b := range p.batches[:p.n] {
		if b.firstSequence() == first && b.lastSequence == last {
			return b, true
		}
	}
	return batch{}, false
}
