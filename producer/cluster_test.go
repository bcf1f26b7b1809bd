package producer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/seglog/seglog/record"
)

// cluster is a Sink that does to a producer what brokers and networks do, by a
// seed: it is slow, refuses, loses requests before or after it has stored them,
// moves leaders, answers out of order. It takes batches by Kafka's rules for
// idempotent producers and remembers what it stored.
type cluster struct {
	mu         sync.Mutex
	rng        *rand.Rand
	topics     map[string][]*stored
	nodes      int
	nextID     int64
	trouble    float64       // how often something goes wrong
	slowest    time.Duration // of an answer
	maxBatch   int           // larger ones are refused
	retention  bool          // producers are forgotten now and then
	asked      int           // metadata requests
	produced   int           // produce requests
	inFlight   map[Node]int
	mostFlying int
	queues     map[Node]chan func() // requests to a node are carried out in turn
	refuse     func(Batch) error
	topicError error
	idError    error
}

// stored is one partition.
type stored struct {
	leader    Node
	records   []record.Record
	producers map[int64]*producerLog
	start     int64 // the log start offset

	// unanswered says that an answer was lost: a log that forgets its producer
	// then cannot tell a second copy.
	unanswered bool
}

// producerLog is what a partition knows of a producer.
type producerLog struct {
	epoch int16
	last  []cached // of the five last batches
}

type cached struct {
	first, last int32
	offset      int64
}

func newCluster(seed uint64, nodes int, topics map[string]int) *cluster {
	c := &cluster{rng: rand.New(rand.NewPCG(seed, 1)), topics: make(map[string][]*stored), nodes: nodes, nextID: 1000,
		inFlight: make(map[Node]int), queues: make(map[Node]chan func()), maxBatch: 1 << 20}
	for name, n := range topics {
		for p := range n {
			c.topics[name] = append(c.topics[name], &stored{leader: Node(p % nodes), producers: make(map[int64]*producerLog)})
		}
	}
	return c
}

// stop ends the nodes.
func (c *cluster) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.queues {
		close(q)
	}
}

func (c *cluster) Topic(_ context.Context, name string) ([]PartitionInfo, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	if c.topicError != nil {
		return nil, c.topicError
	}
	if c.rng.Float64() < c.trouble {
		return nil, ErrUnavailable
	}
	var infos []PartitionInfo
	for _, p := range c.topics[name] {
		infos = append(infos, PartitionInfo{Leader: p.leader})
	}
	return infos, nil
}

func (c *cluster) ProducerID(context.Context) (int64, int16, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idError != nil {
		return 0, 0, c.idError
	}
	if c.rng.Float64() < c.trouble {
		return 0, 0, ErrUnavailable
	}
	c.nextID++
	return c.nextID, 0, nil
}

func (c *cluster) Produce(ctx context.Context, node Node, r *Request, done func([]Result, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.produced++
	c.inFlight[node]++
	c.mostFlying = max(c.mostFlying, c.inFlight[node])
	q := c.queues[node]
	if q == nil {
		q = make(chan func(), 1000)
		c.queues[node] = q
		go func() {
			for f := range q {
				f()
			}
		}()
	}
	q <- func() {
		results, wait, err := c.carryOut(node, r)
		answer := func() {
			c.mu.Lock()
			c.inFlight[node]--
			c.mu.Unlock()
			done(results, err)
		}
		if wait == 0 {
			answer()
			return
		}
		go func() { // answers may pass one another
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				results, err = nil, context.Cause(ctx)
			}
			answer()
		}()
	}
}

func (c *cluster) carryOut(node Node, r *Request) (results []Result, wait time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slowest > 0 {
		wait = time.Duration(c.rng.Int64N(int64(c.slowest)))
	}
	lost := c.rng.Float64() < c.trouble
	if lost && c.rng.IntN(2) == 0 {
		return nil, wait, ErrUnavailable // on its way there
	}
	for _, b := range r.Batches {
		results = append(results, c.store(node, b))
	}
	if r.Acks == AcksNone { // nothing is answered, whatever became of it
		clear(results)
		return results, 0, nil
	}
	if lost {
		for _, b := range r.Batches {
			c.topics[b.Topic][b.Partition].unanswered = true
		}
		if c.rng.IntN(2) == 0 {
			wait = time.Hour // on its way back: the producer's time-out tells
		}
		return nil, wait, ErrUnavailable
	}
	return results, wait, nil
}

func (c *cluster) store(node Node, b Batch) (r Result) {
	p := c.topics[b.Topic][b.Partition]
	defer func() { r.LogStart = p.start }()
	if c.refuse != nil {
		if err := c.refuse(b); err != nil {
			return Result{Err: err}
		}
	}
	switch {
	case p.leader != node:
		return Result{Err: ErrNotLeader}
	case len(b.Raw) > c.maxBatch:
		return Result{Err: fmt.Errorf("%w: %d", ErrMessageTooLarge, len(b.Raw))}
	case c.rng.Float64() < c.trouble/2:
		p.leader = Node((int(p.leader) + 1) % c.nodes)
		return Result{Err: ErrNotLeader}
	case c.rng.Float64() < c.trouble:
		return Result{Err: ErrUnavailable}
	}
	batch, err := record.Parse(b.Raw)
	if err != nil {
		return Result{Err: err}
	}
	if batch.ProducerID >= 0 {
		if c.retention && !p.unanswered && c.rng.IntN(50) == 0 {
			delete(p.producers, batch.ProducerID) // with all it wrote
			p.start = int64(len(p.records))
		}
		if r, known := p.sequence(batch); known {
			return r
		}
	}
	r = Result{Offset: int64(len(p.records)), Stored: true}
	var d record.Decoder
	for rec, err := range d.Records(batch) {
		if err != nil {
			return Result{Err: err}
		}
		rec.Value = append([]byte(nil), rec.Value...)
		rec.Key = append([]byte(nil), rec.Key...)
		p.records = append(p.records, rec)
	}
	if batch.ProducerID >= 0 {
		log := p.producers[batch.ProducerID]
		log.last = append(log.last, cached{batch.BaseSequence, batch.LastSequence(), r.Offset})
		log.last = log.last[max(0, len(log.last)-5):]
	}
	return r
}

// sequence holds a batch against Kafka's rules; known says that it is not to be
// stored.
func (p *stored) sequence(b record.Batch) (r Result, known bool) {
	log := p.producers[b.ProducerID]
	switch {
	case log == nil && b.BaseSequence != 0:
		return Result{Err: ErrUnknownProducerID}, true
	case log == nil || b.ProducerEpoch > log.epoch && b.BaseSequence == 0:
		p.producers[b.ProducerID] = &producerLog{epoch: b.ProducerEpoch}
		return r, false
	case b.ProducerEpoch < log.epoch:
		return Result{Err: ErrFenced}, true
	}
	for _, c := range log.last {
		if b.ProducerEpoch == log.epoch && c.first == b.BaseSequence && c.last == b.LastSequence() {
			return Result{Offset: c.offset, Stored: true}, true
		}
	}
	last := log.last[len(log.last)-1]
	if b.ProducerEpoch != log.epoch || b.BaseSequence != plus(last.last, 1) {
		return Result{Err: ErrOutOfOrderSequence}, true
	}
	return r, false
}
