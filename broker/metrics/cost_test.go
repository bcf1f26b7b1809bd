package metrics

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker/kafka"
)

// answers are of a produce and of a fetch, with so many partitions.
func answers(n int) (produce, fetch kafka.Answered) {
	p, f := kmsg.NewPtrProduceResponse(), kmsg.NewPtrFetchResponse()
	p.Topics, f.Topics = make([]kmsg.ProduceResponseTopic, 1), make([]kmsg.FetchResponseTopic, 1)
	p.Topics[0].Partitions = make([]kmsg.ProduceResponseTopicPartition, n)
	f.Topics[0].Partitions = make([]kmsg.FetchResponseTopicPartition, n)
	p.Topics[0].Partitions[n-1].ErrorCode = 2
	produce = kafka.Answered{Key: 0, Version: 9, RequestBytes: 1000, ResponseBytes: 50, Took: time.Millisecond, Response: p}
	fetch = kafka.Answered{Key: 1, Version: 12, RequestBytes: 50, ResponseBytes: 1000, Took: time.Second, Waited: time.Second, Response: f}
	return produce, fetch
}

// TestNothingIsAllocated: what is done for each request leaves nothing for the
// collector of garbage.
func TestNothingIsAllocated(t *testing.T) {
	m := New()
	trace := m.RequestTrace()
	produce, fetch := answers(3)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		trace.Answered(produce)
		trace.Sent(kafka.Sent{Key: 0, Took: time.Microsecond})
		trace.Answered(fetch)
	}))
	s := &served{t: t, m: m}
	assert.EqualValues(t, 101, s.value(requestErrs, "request", "Produce", "error", "CORRUPT_MESSAGE"))
	assert.EqualValues(t, 202, s.value(requestErrs, "request", "Produce", "error", "NONE"))
	assert.EqualValues(t, 4*101, s.value(requestErrs, "request", "Fetch", "error", "NONE"), "of all of it, and of each partition")
}

// BenchmarkAnswered is what a request costs more when it is counted.
func BenchmarkAnswered(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
	}{{"partitions=1", 1}, {"partitions=100", 100}} {
		b.Run(c.name, func(b *testing.B) {
			trace := New().RequestTrace()
			produce, _ := answers(c.n)
			b.ReportAllocs()
			for b.Loop() {
				trace.Answered(produce)
				trace.Sent(kafka.Sent{Key: 0, Took: time.Microsecond})
			}
		})
	}
}
