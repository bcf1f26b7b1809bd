package producer

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/record"
)

// fake is a Sink that remembers what it is asked, and answers as a test says.
type fake struct {
	partitions []PartitionInfo // of every topic
	mu         sync.Mutex
	requests   []*asked
	answer     func(*asked) // nil: at once, all is stored
	topic      func(name string) ([]PartitionInfo, error)
	id         producerID
	ids        int
}

// asked is a produce request.
type asked struct {
	*Request
	at   time.Time
	node Node
	done func([]Result, error)
	ctx  context.Context
}

func newFake(partitions int) *fake {
	return &fake{partitions: make([]PartitionInfo, partitions), id: producerID{id: 7}}
}

func (f *fake) Topic(_ context.Context, name string) ([]PartitionInfo, error) {
	if f.topic != nil {
		return f.topic(name)
	}
	return f.partitions, nil
}

func (f *fake) ProducerID(context.Context) (int64, int16, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids++
	return f.id.id + int64(f.ids) - 1, f.id.epoch, nil
}

func (f *fake) Produce(ctx context.Context, node Node, r *Request, done func([]Result, error)) {
	mine := *r // their bytes are the producer's again after done
	mine.Batches = slices.Clone(r.Batches)
	for i := range mine.Batches {
		mine.Batches[i].Raw = bytes.Clone(mine.Batches[i].Raw)
	}
	a := &asked{&mine, time.Now(), node, done, ctx}
	f.mu.Lock()
	f.requests = append(f.requests, a)
	answer := f.answer
	f.mu.Unlock()
	if answer == nil {
		answer = (*asked).stored
	}
	answer(a)
}

// got is the requests so far.
func (f *fake) got() []*asked {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*asked(nil), f.requests...)
}

// stored answers that all is well.
func (a *asked) stored() {
	results := make([]Result, len(a.Batches))
	for i := range results {
		results[i].Stored = true
	}
	a.done(results, nil)
}

// hold keeps a request without an answer until it is stored by the test, or
// given up.
func hold(a *asked) {
	var once sync.Once
	done := a.done
	a.done = func(r []Result, err error) { once.Do(func() { done(r, err) }) }
	context.AfterFunc(a.ctx, func() { a.done(nil, ErrUnavailable) })
}

// fail answers every batch with err.
func (a *asked) fail(err error) {
	results := make([]Result, len(a.Batches))
	for i := range results {
		results[i].Err = err
	}
	a.done(results, nil)
}

// batch is batch i, decoded.
func (a *asked) batch(t *testing.T, i int) record.Batch {
	t.Helper()
	b, err := record.Parse(a.Batches[i].Raw)
	require.NoError(t, err)
	return b
}

// values are those of all its records.
func (a *asked) values(t *testing.T) (values []string) {
	t.Helper()
	var d record.Decoder
	for i := range a.Batches {
		for r, err := range d.Records(a.batch(t, i)) {
			require.NoError(t, err)
			values = append(values, string(r.Value))
		}
	}
	return values
}

// begin makes a producer that is closed when the test ends.
func begin(t *testing.T, sink Sink, o Options) *Producer {
	t.Helper()
	p, err := New(sink, o)
	require.NoError(t, err)
	t.Cleanup(func() { closeNow(p) })
	return p
}

func closeNow(p *Producer) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.Close(ctx)
}

func value(v string) Record { return Record{Topic: "t", Partition: At(0), Value: []byte(v)} }

var background = context.Background()
