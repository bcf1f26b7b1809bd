package kafka

import (
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/group"
)

// coordinated has a group's coordinator answer, now or later. Who waits holds
// nothing but its connection, on which no other request is read meanwhile. A
// client that goes away ends the wait, not what it has asked for; so does the end
// of the server, which has it ask elsewhere (NOT_COORDINATOR).
func coordinated[T any](q *call, id string, ask func(c *group.Coordinator, now time.Time, reply func(T))) (answer T, err error) {
	replies := make(chan T, 1)
	err = q.s.b.Group(id, func(c *group.Coordinator, now time.Time) {
		ask(c, now, func(a T) { replies <- a })
	})
	if err != nil {
		return answer, err
	}
	select {
	case answer = <-replies:
		return answer, nil
	default:
	}
	ctx, done := q.c.watch(q.ctx)
	defer done()
	select {
	case answer = <-replies:
		return answer, nil
	case <-ctx.Done():
		if q.ctx.Err() != nil {
			return answer, kerr.NotCoordinator
		}
		return answer, errGone
	}
}

// errGone ends a connection whose client has ended it.
var errGone = net.ErrClosed

// clientHost is where a client is, as Kafka tells of it.
func (q *call) clientHost() string {
	at := q.c.nc.RemoteAddr().String()
	if host, _, err := net.SplitHostPort(at); err == nil {
		at = host
	}
	return "/" + at
}

func millis(n int32) time.Duration { return time.Duration(n) * time.Millisecond }

// orNull is a text, or null with an error.
func orNull(text string, code int16) *string {
	if code != 0 {
		return nil
	}
	return &text
}

// offsetsOf finds a topic of which offsets are asked for, by its name, or its id
// from version 10 on.
func (q *call) offsetsOf(name string, id broker.TopicID) (*broker.Topic, error) {
	return q.topic(name, id, q.version >= 10)
}
