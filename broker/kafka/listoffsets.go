package kafka

import (
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/log"
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
	if p.Timestamp < 0 {
		if since, ok := specialSince[p.Timestamp]; !ok || q.version < since {
			return nowhere, kerr.UnsupportedVersion
		}
	}
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
	switch p.Timestamp {
	case latest:
		return position{l.Isolated(level).End(), -1, at.LeaderEpoch()}, nil
	case earliest, earliestLocal:
		return position{l.First(), -1, at.EpochOf(l.First())}, nil
	case latestTiered, earliestPending:
		return nowhere, nil
	case maxTimestamp:
		return stamped(at.Newest(level))
	}
	return stamped(at.OffsetAt(level, time.UnixMilli(p.Timestamp)))
}

func stamped(at broker.Stamped, ok bool, err error) (position, error) {
	if err != nil || !ok {
		return nowhere, err
	}
	return position{at.Offset, at.Time.UnixMilli(), at.LeaderEpoch}, nil
}
