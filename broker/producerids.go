package broker

import (
	"math"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
)

// producerIDs gives ids to idempotent producers. A block of them is set aside in
// the state before the first is given, so that none is given twice.
type producerIDs struct {
	b  *Broker
	mu struct {
		sync.Mutex
		next, end int64
	}
}

// producerIDBlock is how many ids are set aside at a time, as in Kafka.
const producerIDBlock = 1000

// NewProducerID is an id that no producer has had, durably.
func (b *Broker) NewProducerID() (int64, error) {
	p := &b.producers
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.next == p.mu.end {
		first, err := b.setProducerIDsAside()
		if err != nil {
			return -1, err
		}
		p.mu.next, p.mu.end = first, first+producerIDBlock
	}
	p.mu.next++
	return p.mu.next - 1, nil
}

func (b *Broker) setProducerIDsAside() (first int64, err error) {
	err = b.changing(func() error {
		s := b.change.state
		if s.NextProducerID > math.MaxInt64-producerIDBlock {
			return failf(kerr.UnknownServerError, "there are no producer ids left")
		}
		first = s.NextProducerID
		s.NextProducerID += producerIDBlock
		return b.save() // ids that could not be set aside are not given either
	})
	return first, err
}
