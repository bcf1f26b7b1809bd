package queue

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/seglog/seglog/record"
)

// Message is what is pushed and delivered. Its bytes are copied by Push, and of
// a delivered one they are the caller's.
type Message struct {
	Key     []byte // nil: none
	Value   []byte
	Headers []record.Header
	// Time is when it was pushed; Push sets it.
	Time time.Time
	// NotBefore is when it is delivered at the earliest; zero is at once.
	NotBefore time.Time

	// Offset is its number in the queue, and Deliveries how often it has been
	// delivered, this time included. Push looks at neither.
	Offset     int64
	Deliveries int

	from     *consumer
	entry    *entry // under its lock
	delivery uint64
}

// notBefore is the header of a delayed message: milliseconds since 1970 in 8
// bytes, big-endian.
const notBefore = "seglog-not-before"

// record is how a message is stored.
func (m *Message) record(now time.Time) record.Record {
	r := record.Record{Time: now, Key: m.Key, Value: m.Value, Headers: m.Headers}
	if !m.NotBefore.IsZero() {
		at := binary.BigEndian.AppendUint64(nil, uint64(m.NotBefore.UnixMilli()))
		r.Headers = append(slices.Clip(r.Headers), record.Header{Key: notBefore, Value: at})
	}
	return r
}

// fill makes m a stored one.
func (m *Message) fill(r *record.Record) {
	*m = Message{Key: r.Key, Value: r.Value, Headers: r.Headers, Time: r.Time, Offset: r.Offset}
	if due, delayed := delayOf(r); delayed {
		last := len(r.Headers) - 1
		m.NotBefore, m.Headers = due, r.Headers[:last:last]
	}
}

// delayOf is NotBefore of a stored message that is delayed.
func delayOf(r *record.Record) (due time.Time, delayed bool) {
	if last := len(r.Headers) - 1; last >= 0 && r.Headers[last].Key == notBefore && len(r.Headers[last].Value) == 8 {
		return time.UnixMilli(int64(binary.BigEndian.Uint64(r.Headers[last].Value))).UTC(), true
	}
	return time.Time{}, false
}

// Ack says that the message is dealt with: it is not delivered to this consumer
// again. A second Ack changes nothing. ErrExpired says that it was too late, and
// that the message is, or will be, delivered again.
func (m *Message) Ack() error {
	c, err := m.consumer()
	if err == nil {
		err = c.ack(m)
	}
	return m.settled(err)
}

// Nack gives the message back, to be delivered again after delay.
func (m *Message) Nack(delay time.Duration) error {
	c, err := m.consumer()
	if err == nil {
		err = c.nack(m, delay)
	}
	return m.settled(err)
}

// Extend gives the message's worker until Visibility from now.
func (m *Message) Extend() error {
	c, err := m.consumer()
	if err == nil {
		err = c.extend(m)
	}
	return m.settled(err)
}

// consumer is who the message was delivered to.
func (m *Message) consumer() (*consumer, error) {
	if m.from == nil {
		return nil, fmt.Errorf("queue: message %d was not delivered", m.Offset)
	}
	return m.from, nil
}

// settled returns when what was written survives what Durability says.
func (m *Message) settled(err error) error {
	if err != nil {
		return err
	}
	return m.from.q.persisted(context.Background())
}

// AckAll is Ack of several messages, with one sync where Durability wants one.
// It stops at the first error.
func AckAll(messages ...Message) error {
	for i := range messages {
		m := &messages[i]
		c, err := m.consumer()
		if err == nil {
			err = c.ack(m)
		}
		if err != nil {
			return err
		}
	}
	if len(messages) == 0 {
		return nil
	}
	return messages[0].settled(nil)
}
