package producer

import (
	"sync/atomic"
	"time"
)

// Stats is what a producer has done so far and holds now. Counts of records are
// of those that came into a batch, unless said.
type Stats struct {
	Records, Batches int64 // done, failed ones included
	Failed           int64 // of these records, those that failed
	Refused          int64 // records that came into no batch
	Bytes            int64 // of the batches as they were sent
	Payload          int64 // the same before compression
	Requests         int64
	Retries          int64 // batches sent again
	Splits           int64
	QueueTime        time.Duration // of all batches, from the first record to being sent

	InFlight        int   // batches that the sink has
	Waiting         int   // batches that are not done and not with the sink
	BufferAvailable int64 // of BufferBytes
	BufferWait      time.Duration
}

// CompressionRatio is how large the batches were sent, compared with their
// records; 1 if nothing was compressed.
func (s Stats) CompressionRatio() float64 {
	if s.Payload == 0 {
		return 1
	}
	return float64(s.Bytes) / float64(s.Payload)
}

// counters are behind Stats.
type counters struct {
	records, batches, failed, refused, bytes, payload, requests, retries, splits, queueTime, inFlight atomic.Int64
}

// Stats is a snapshot: fields are read one after the other.
func (p *Producer) Stats() Stats {
	c := &p.count
	p.acc.mu.Lock()
	undone := len(p.acc.mu.undone)
	p.acc.mu.Unlock()
	p.acc.pool.mu.Lock()
	waited := p.acc.pool.mu.waited
	p.acc.pool.mu.Unlock()
	s := Stats{
		Records: c.records.Load(), Batches: c.batches.Load(), Failed: c.failed.Load(), Refused: c.refused.Load(),
		Bytes: c.bytes.Load(), Payload: c.payload.Load(), Requests: c.requests.Load(), Retries: c.retries.Load(),
		Splits: c.splits.Load(), QueueTime: time.Duration(c.queueTime.Load()), InFlight: int(c.inFlight.Load()),
		BufferAvailable: p.acc.pool.available(), BufferWait: waited,
	}
	s.Waiting = max(undone-s.InFlight, 0)
	return s
}
