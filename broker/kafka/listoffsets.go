package kafka

import (
	"errors"
	"io"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// The timestamps that mean something else, and the version each came with.
const (
	latest          = -1
	earliest        = -2
	maxTimestamp    = -3 // v7
	earliestLocal   = -4 // v8
	latestTiered    = -5 // v9
	earliestPending = -6 // v11
)

var specialSince = map[int64]int16{latest: 0, earliest: 0, maxTimestamp: 7, earliestLocal: 8, latestTiered: 9, earliestPending: 11}

func serveListOffsets(q *call, req *kmsg.ListOffsetsRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrListOffsetsResponse()
	times := make(map[partitionKey]int)
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			times[partitionKey{topic: t.Topic, partition: p.Partition}]++
		}
	}
	for _, t := range req.Topics {
		answer := kmsg.NewListOffsetsResponseTopic()
		answer.Topic = t.Topic
		for _, p := range t.Partitions {
			if times[partitionKey{topic: t.Topic, partition: p.Partition}] == 0 {
				continue // told of already
			}
			a := kmsg.NewListOffsetsResponseTopicPartition()
			a.Partition, a.Offset, a.Timestamp, a.LeaderEpoch = p.Partition, -1, -1, -1
			var found position
			err := error(kerr.InvalidRequest)
			if times[partitionKey{topic: t.Topic, partition: p.Partition}] == 1 {
				found, err = q.listOffset(req, t.Topic, p)
			}
			times[partitionKey{topic: t.Topic, partition: p.Partition}] = 0
			if a.ErrorCode = code(err); err == nil {
				a.Offset, a.Timestamp, a.LeaderEpoch = found.offset, found.time, found.epoch
			}
			answer.Partitions = append(answer.Partitions, a)
		}
		resp.Topics = append(resp.Topics, answer)
	}
	return resp, nil
}

// position is an offset with what is known of it.
type position struct {
	offset, time int64
	epoch        int32
}

var nowhere = position{-1, -1, -1}

func (q *call) listOffset(req *kmsg.ListOffsetsRequest, topic string, p kmsg.ListOffsetsRequestTopicPartition) (position, error) {
	at, err := q.s.b.Partition(topic, p.Partition)
	if err == nil {
		err = fenced(at, p.CurrentLeaderEpoch)
	}
	if err != nil {
		return nowhere, err
	}
	l, err := at.Log()
	if err != nil {
		return nowhere, err
	}
	level := log.ReadUncommitted
	switch {
	case req.IsolationLevel < 0 || req.IsolationLevel > 1:
		return nowhere, kerr.UnknownServerError
	case req.ReplicaID >= 0:
		level = log.UpToEnd
	case req.IsolationLevel == 1:
		level = log.ReadCommitted
	}
	if p.Timestamp < 0 {
		if since, ok := specialSince[p.Timestamp]; !ok || q.version < since {
			return nowhere, kerr.UnsupportedVersion
		}
	}
	switch p.Timestamp {
	case latest:
		return position{l.Isolated(level).End(), -1, at.LeaderEpoch()}, nil
	case earliest, earliestLocal:
		return position{l.First(), -1, epochOf(l, l.First())}, nil
	case latestTiered, earliestPending:
		return nowhere, nil
	case maxTimestamp:
		return latestTime(l, level)
	}
	return atTime(l, level, time.UnixMilli(p.Timestamp))
}

// epochOf is the leader epoch of an offset.
func epochOf(l *log.Log, offset int64) int32 {
	epoch := int32(-1)
	for i, e := range l.LeaderEpochs() {
		if i == 0 || e.Start <= offset {
			epoch = e.Epoch
		}
	}
	return epoch
}

// latestTime is the first record with the largest time there is.
func latestTime(l *log.Log, level log.Isolation) (position, error) {
	if l.Isolated(level).End() < l.Isolated(log.ReadUncommitted).End() {
		return nowhere, nil // it may be among those that are not decided
	}
	var newest time.Time
	for _, s := range l.Segments() {
		if s.Next > l.First() && s.MaxTime.After(newest) {
			newest = s.MaxTime
		}
	}
	if newest.IsZero() {
		return nowhere, nil
	}
	return atTime(l, level, newest)
}

// atTime is the first record at or after t, nowhere if there is none.
func atTime(l *log.Log, level log.Isolation, t time.Time) (position, error) {
	offset, err := l.OffsetAt(t)
	if err != nil {
		return nowhere, broker.StorageError(err)
	}
	if offset >= l.Isolated(level).End() {
		return nowhere, nil
	}
	v, err := l.Borrow(offset, 1)
	switch {
	case err == io.EOF, errors.Is(err, log.ErrTrimmed), errors.Is(err, log.ErrBeyond): // dropped in the meantime
		return nowhere, nil
	case err != nil:
		return nowhere, broker.StorageError(err)
	}
	defer v.Release()
	var d record.Decoder
	for b := range v.Batches() {
		for r, err := range d.Records(b) {
			if err != nil {
				return nowhere, broker.StorageError(err)
			}
			if r.Offset >= offset && !r.Time.Before(t.Truncate(time.Millisecond)) {
				return position{r.Offset, r.Time.UnixMilli(), b.LeaderEpoch}, nil
			}
		}
	}
	return nowhere, nil
}
