package kafkasink

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/producer"
)

// node keeps the requests to one broker in order. The client writes requests of
// concurrent calls in any order; so the next call is made when it has told (by
// its hook) that the one before was written, and answers are not waited for.
type node struct {
	s       *Sink
	id      int32
	calls   chan *call
	written chan struct{}
}

// call is one produce request.
type call struct {
	ctx     context.Context
	request *kmsg.ProduceRequest
	batches []producer.Batch
	unacked bool
	done    func([]producer.Result, error)
}

// queued is how many requests wait for the one before to be written: more than
// a producer has in flight.
const queued = 64

// node is the one of that id, made when it is first asked for.
func (s *Sink) node(id int32) *node {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.nodes[id]
	if n == nil {
		n = &node{s: s, id: id, calls: make(chan *call, queued), written: make(chan struct{}, 1)}
		s.nodes[id] = n
		s.group.Go(n.run)
	}
	return n
}

// send never waits long: for who is closed, or has more in flight than fits,
// the answer is that there is none.
func (n *node) send(c *call) {
	select {
	case n.calls <- c:
	case <-n.s.closed:
		c.done(nil, broken(kgo.ErrClientClosed))
	}
}

func (n *node) run() {
	for {
		select {
		case c := <-n.calls:
			n.write(c)
		case <-n.s.closed:
			for {
				select {
				case c := <-n.calls:
					c.done(nil, broken(kgo.ErrClientClosed))
				default:
					return
				}
			}
		}
	}
}

// write returns when the request was written, or will not be.
func (n *node) write(c *call) {
	select {
	case <-n.written: // of a request that was given up before it was written
	default:
	}
	over := make(chan struct{})
	n.s.group.Go(func() {
		resp, err := n.s.client.Broker(int(n.id)).Request(c.ctx, c.request)
		close(over)
		c.answer(n.s, resp, err)
	})
	select {
	case <-n.written:
	case <-over:
	}
}

func (c *call) answer(s *Sink, resp kmsg.Response, err error) {
	switch {
	case err != nil:
		c.done(nil, broken(err))
	case c.unacked: // no answer comes
		c.done(make([]producer.Result, len(c.batches)), nil)
	default:
		c.done(s.results(resp.(*kmsg.ProduceResponse), c.batches), nil)
	}
}

// OnBrokerWrite implements kgo.HookBrokerWrite.
func (s *Sink) OnBrokerWrite(meta kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, _ error) {
	if key != int16(kmsg.Produce) {
		return
	}
	select {
	case s.node(meta.NodeID).written <- struct{}{}:
	default:
	}
}
