package peers

import (
	"context"
	"errors"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seglog/seglog/bench/workload"
)

// jetStreamQueue is a stream with the work queue policy: what is acknowledged is
// removed.
type jetStreamQueue struct {
	*embedded

	stream   jetstream.Stream
	consumer jetstream.Consumer
	messages func() (jetstream.MessagesContext, error)
	last     jetstream.Msg // taken
}

func openJetStreamQueue(dir string, s Setting) (workload.Queue, error) {
	e, err := startNATS(dir, s.Durable)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	q := &jetStreamQueue{embedded: e}
	q.stream, err = e.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: stream, Subjects: []string{subject},
		Storage: jetstream.FileStorage, Retention: jetstream.WorkQueuePolicy})
	if err == nil {
		q.consumer, err = q.stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{Durable: "worker", AckPolicy: jetstream.AckExplicitPolicy,
			MaxAckPending: -1})
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	q.messages = sync.OnceValues(func() (jetstream.MessagesContext, error) { return q.consumer.Messages() })
	return q, nil
}

func (q *jetStreamQueue) Push(value []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	_, err := q.js.Publish(ctx, subject, value)
	return err
}

func (q *jetStreamQueue) PushBatch(values [][]byte) error {
	return (&jetStreamLog{embedded: q.embedded}).Appender(values)()
}

// Take takes what the server sends ahead, which is how it is fast.
func (q *jetStreamQueue) Take() (value []byte, ok bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	value, err = q.Wait(ctx)
	return value, err == nil, err
}

func (q *jetStreamQueue) Wait(ctx context.Context) (value []byte, err error) {
	messages, err := q.messages()
	if err != nil {
		return nil, err
	}
	q.last, err = messages.Next(jetstream.NextContext(ctx))
	if err != nil {
		return nil, err
	}
	return q.last.Data(), nil
}

func (q *jetStreamQueue) Ack() error { return q.last.DoubleAck(context.Background()) }

func (q *jetStreamQueue) Depth() (int64, error) {
	info, err := q.stream.Info(context.Background())
	if err != nil {
		return 0, err
	}
	return int64(info.State.Msgs), nil
}
