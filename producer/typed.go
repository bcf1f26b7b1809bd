package producer

import (
	"context"
	"fmt"

	"github.com/seglog/seglog/record"
)

// Serializer makes a key's or a value's bytes for a topic. Nil bytes are none.
type Serializer[T any] func(topic string, v T) ([]byte, error)

// Bytes and String are the serializers of what needs none.
func Bytes(_ string, b []byte) ([]byte, error)  { return b, nil }
func String(_ string, s string) ([]byte, error) { return []byte(s), nil }

// Typed sends keys and values of two types to one topic.
type Typed[K, V any] struct {
	producer *Producer
	topic    string
	key      Serializer[K]
	value    Serializer[V]
}

// For makes a typed producer for one topic of p; there may be any number.
func For[K, V any](p *Producer, topic string, key Serializer[K], value Serializer[V]) Typed[K, V] {
	return Typed[K, V]{p, topic, key, value}
}

// Send is Producer.Send. A serializer's error is the future's, as ErrInvalid.
func (t Typed[K, V]) Send(ctx context.Context, key K, value V, headers ...record.Header) *Future {
	r := Record{Topic: t.topic, Headers: headers}
	var err error
	if r.Key, err = t.key(t.topic, key); err != nil {
		return t.refuse("key", err)
	}
	if r.Value, err = t.value(t.topic, value); err != nil {
		return t.refuse("value", err)
	}
	return t.producer.Send(ctx, r)
}

// SendSync is Send and Wait.
func (t Typed[K, V]) SendSync(ctx context.Context, key K, value V, headers ...record.Header) (Delivery, error) {
	return t.Send(ctx, key, value, headers...).Wait(ctx)
}

func (t Typed[K, V]) refuse(what string, err error) *Future {
	return t.producer.refuse(Record{Topic: t.topic}, nil, fmt.Errorf("%w: the %s: %w", ErrInvalid, what, err))
}
