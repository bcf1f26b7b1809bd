package broker

import (
	"errors"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Traffic is what went through a topic since the broker was opened, or the topic
// made. What an answer tells of is counted before the answer can be seen.
type Traffic struct {
	// MessagesIn are the records appended, duplicates of an idempotent producer
	// left out, and BytesIn the bytes of their batches as they came; where they
	// came as records, of keys and values.
	MessagesIn, BytesIn int64
	// BytesOut are the bytes of the batches that fetches were answered with.
	BytesOut int64
	// BytesRejected are those of batches that are too large.
	BytesRejected int64
	// ProduceRequests and FetchRequests count each partition of a request.
	ProduceRequests, FetchRequests int64
	// FailedProduceRequests and FailedFetchRequests are those of them that were
	// answered with an error which, as Kafka has it, is not to be expected.
	FailedProduceRequests, FailedFetchRequests int64
}

// traffic are the counters.
type traffic struct {
	messagesIn, bytesIn, bytesOut, bytesRejected atomic.Int64
	produces, failedProduces                     atomic.Int64
	fetches, failedFetches                       atomic.Int64
}

// Traffic reads the counters, each at a moment of its own.
func (t *Topic) Traffic() Traffic {
	c := &t.traffic
	return Traffic{
		MessagesIn: c.messagesIn.Load(), BytesIn: c.bytesIn.Load(), BytesOut: c.bytesOut.Load(), BytesRejected: c.bytesRejected.Load(),
		ProduceRequests: c.produces.Load(), FetchRequests: c.fetches.Load(),
		FailedProduceRequests: c.failedProduces.Load(), FailedFetchRequests: c.failedFetches.Load(),
	}
}

// produced counts an append of so many records and bytes.
func (c *traffic) produced(records, bytes int64, err error) {
	c.produces.Add(1)
	switch {
	case err == nil:
		c.messagesIn.Add(records)
		c.bytesIn.Add(bytes)
	case errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.RecordListTooLarge):
		c.bytesRejected.Add(bytes)
	case !expected(err):
		c.failedProduces.Add(1)
	}
}

// fetched counts what partitions are answered with.
func fetched(partitions []FetchPartition, got []Fetched) {
	for i := range got {
		p := partitions[i].Partition
		if p == nil {
			continue // there is no topic
		}
		c := &p.topic.traffic
		c.fetches.Add(1)
		if v := got[i].View; v != nil {
			c.bytesOut.Add(int64(len(v.Bytes())))
		}
		if err := got[i].Err; err != nil && !expected(err) {
			c.failedFetches.Add(1)
		}
	}
}

// expected says whether an error is one that clients meet in a cluster that is
// well, or cause: Kafka's ReplicaManager counts these as no failures. It has
// KAFKA_STORAGE_ERROR among them, as it gives up a directory then and tells of
// that; here it is a single log, so it is a failure.
func expected(err error) bool {
	var k *kerr.Error
	if !errors.As(err, &k) {
		return false
	}
	switch k.Code {
	case 0, // no error by Kafka's numbers: a fetch that diverges
		kerr.UnknownTopicOrPartition.Code, kerr.NotLeaderForPartition.Code, kerr.CorruptMessage.Code,
		kerr.UnknownLeaderEpoch.Code, kerr.FencedLeaderEpoch.Code, kerr.ReplicaNotAvailable.Code,
		kerr.OffsetOutOfRange.Code, kerr.InconsistentTopicID.Code:
		return true
	}
	return false
}
