package kafka

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Trace is told of what the connections of a listener do. Any func may be nil.
// They are called by the goroutines of connections, several at a time and with
// nothing held, and must keep nothing that they are given.
type Trace struct {
	// Connected and Disconnected are called for each connection that is served.
	Connected, Disconnected func()
	// Answered is called when an answer is complete, before the client can have
	// seen any of it, and for requests that get none.
	Answered func(Answered)
	// Sent is called when an answer was written, or could not be.
	Sent func(Sent)
}

// Answered tells of a request that was served.
type Answered struct {
	Key, Version int16
	// RequestBytes and ResponseBytes are the sizes on the wire.
	RequestBytes, ResponseBytes int64
	// Took is the time since all of the request was there, and Waited how much of
	// it what was asked for was not yet there: records for a fetch, other members
	// for a join.
	Took, Waited time.Duration
	// Response is the answer, but for the batches of a fetch; nil if none is
	// given.
	Response kmsg.Response
	// Err is why the connection is closed instead of an answer.
	Err error
}

// Sent tells how long it took to write an answer.
type Sent struct {
	Key  int16
	Took time.Duration
}

// timed is a request that Trace is told of; the zero value is of one that it is
// not.
type timed struct {
	t    *Trace
	from time.Time // the request was there, and then: the answer
}

func (t *Trace) begin(c *conn) timed {
	if t.Answered == nil && t.Sent == nil {
		return timed{}
	}
	c.waited = 0
	return timed{t, time.Now()}
}

func (d *timed) answered(q *call, request int64, answer reply, err error) {
	if d.t == nil {
		return
	}
	now := time.Now()
	if d.t.Answered != nil {
		a := Answered{Key: q.key, Version: q.answerVersion, RequestBytes: request + 4, Took: now.Sub(d.from), Waited: q.c.waited, Response: q.resp, Err: err}
		for _, p := range answer.pieces {
			a.ResponseBytes += int64(len(p))
		}
		d.t.Answered(a)
	}
	d.from = now
}

func (d *timed) sent(q *call) {
	if d.t != nil && d.t.Sent != nil {
		d.t.Sent(Sent{Key: q.key, Took: time.Since(d.from)})
	}
}
