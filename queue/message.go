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

// message is a stored one.
func message(r record.Record) Message {
	m := Message{Key: r.Key, Value: r.Value, Headers: r.Headers, Time: r.Time, Offset: r.Offset}
	if last := len(r.Headers) - 1; last >= 0 && r.Headers[last].Key == notBefore && len(r.Headers[last].Value) == 8 {
		m.NotBefore = time.UnixMilli(int64(binary.BigEndian.Uint64(r.Headers[last].Value))).UTC()
		m.Headers = r.Headers[:last:last]
	}
	return m
}

// Ack says that the message is dealt with: it is not delivered to this consumer
// again. A second Ack changes nothing. ErrExpired says that it was too late, and
// that the message is, or will be, delivered again.
func (m *Message) Ack() error { return m.settle((*consumer).ack) }

// Nack gives the message back, to be delivered again after delay.
func (m *Message) Nack(delay time.Duration) error {
	return m.settle(func(c *consumer, m *Message) error { return c.nack(m, delay) })
}

// Extend gives the message's worker until Visibility from now.
func (m *Message) Extend() error { return m.settle((*consumer).extend) }

func (m *Message) settle(f func(*consumer, *Message) error) error {
	if m.from == nil {
		return fmt.Errorf("queue: message %d was not delivered", m.Offset)
	}
	if err := f(m.from, m); err != nil {
		return err
	}
	return m.from.q.persisted(context.Background())
}

// AckAll is Ack of several messages, with one sync where Durability wants one.
// It stops at the first error.
func AckAll(messages ...Message) error {
	for i := range messages {
		m := &messages[i]
		if m.from == nil {
			return fmt.Errorf("queue: message %d was not delivered", m.Offset)
		}
		if err := m.from.ack(m); err != nil {
			return err
		}
	}
	if len(messages) == 0 {
		return nil
	}
	return messages[0].from.q.persisted(context.Background())
}
