package kafka

import (
	"math/rand/v2"

	"github.com/seglog/seglog/record"
)

// ids is above the producer ids that the broker gives out: Kafka takes the
// producers of our partitions for its own, and would refuse a namesake.
const ids = 1 << 33

func idempotent(w *writer, sequence int32) {
	producers := []record.Producer{{ID: ids, Sequence: sequence}, {ID: ids + 1, Epoch: 4, Sequence: sequence}, {ID: 1 << 40, Epoch: 32000, Sequence: sequence}}
	for i := range 400 {
		p := &producers[i%3]
		list := w.records(1+i%8, 130)
		w.leader(0, record.BatchOptions{Codec: record.Codec(i % 5), Producer: &record.Producer{ID: p.ID, Epoch: p.Epoch, Sequence: p.Sequence}}, list...)
		p.Sequence = int32(uint32(p.Sequence+int32(len(list))) & (1<<31 - 1))
	}
}

// how a transaction's batches and markers come into a log.
type how struct {
	client bool // from its producer and coordinator, not from a leader
	raised bool // the marker raises the epoch (transaction.version 2)
	open   bool // the last ones stay open
}

// transactions of four producers, interleaved with each other and with plain
// batches, committed and aborted, over several segments.
func transactions(h how) func(*writer) {
	return func(w *writer) {
		producers := make([]record.Producer, 4)
		for i := range producers {
			producers[i] = record.Producer{ID: ids + 4000 + int64(i)}
		}
		random := rand.New(rand.NewPCG(5, 6))
		end := func(p *record.Producer) {
			if len(w.open[p.ID]) == 0 {
				return
			}
			outcome := []record.ControlType{record.ControlAbort, record.ControlCommit}[random.IntN(2)]
			if h.raised {
				p.Epoch, p.Sequence = p.Epoch+1, 0
			}
			if h.client {
				w.end(*p, outcome, h.raised)
			} else {
				w.marker(*p, outcome)
			}
		}
		for i := range 600 {
			if i%5 == 4 {
				w.append(w.records(2, 80)...)
				continue
			}
			p := &producers[random.IntN(4)]
			list := w.records(1+random.IntN(6), 150)
			own := *p
			o := record.BatchOptions{Codec: record.Codec(i % 5), Producer: &own, Transactional: true}
			if h.client {
				w.client(o, list...)
			} else {
				w.leader(0, o, list...)
			}
			p.Sequence += int32(len(list))
			if random.IntN(4) == 0 {
				end(p)
			}
			if i == 300 {
				w.reopen()
			}
		}
		for i := range producers {
			if !h.open {
				end(&producers[i])
			}
		}
	}
}
