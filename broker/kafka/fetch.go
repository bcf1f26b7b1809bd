package kafka

import (
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/log"
)

func serveFetch(q *call, request kmsg.Request) (reply, error) {
	req := request.(*kmsg.FetchRequest)
	resp := kmsg.NewPtrFetchResponse()
	f, err := q.s.sessions.begin(q, req)
	if err != nil {
		resp.ErrorCode = code(err)
		return q.fetched(resp, nil)
	}
	defer f.end()
	wanted := make([]broker.FetchPartition, len(f.parts))
	known := false
	for i, p := range f.parts {
		wanted[i] = q.wanted(p)
		known = known || !p.unknown
		if wanted[i].Err == nil && (req.ReplicaID >= 0 || req.ReplicaState.ID >= 0) { // there are no followers
			wanted[i].Err = kerr.NotLeaderForPartition
		}
	}
	if known && (req.IsolationLevel < 0 || req.IsolationLevel > 1) {
		return q.fetched(q.noIsolation(resp, f), nil)
	}
	limit := min(int64(req.MaxBytes), q.s.b.ConfigInt("fetch.max.bytes"))
	o := broker.FetchOptions{
		MinBytes:  min(int64(req.MinBytes), limit),
		MaxWait:   time.Duration(req.MaxWaitMillis) * time.Millisecond,
		MaxBytes:  max(limit, 1), // so that the first batch comes
		Isolation: log.ReadUncommitted,
		Waiting:   q.c.watch,
	}
	if req.IsolationLevel == 1 {
		o.Isolation = log.ReadCommitted
	}
	got := q.read(o, f.parts, wanted)
	resp.SessionID = f.id
	q.fill(resp, f, got, req.IsolationLevel == 1)
	return q.fetched(resp, got)
}

// read reads of what is there: what is not ends no wait, unless it is all.
func (q *call) read(o broker.FetchOptions, parts []*fetchPart, wanted []broker.FetchPartition) []broker.Fetched {
	var there []broker.FetchPartition
	for i, p := range parts {
		if !p.unknown {
			there = append(there, wanted[i])
		}
	}
	if len(there) == 0 || len(there) == len(parts) {
		return q.s.b.Fetch(q.ctx, o, wanted)
	}
	read, got := q.s.b.Fetch(q.ctx, o, there), make([]broker.Fetched, len(parts))
	for i, p := range parts {
		if p.unknown {
			got[i] = notRead(wanted[i].Err)
			continue
		}
		got[i], read = read[0], read[1:]
	}
	return got
}

// notRead is what there is of a partition of which nothing is known but err.
func notRead(err error) broker.Fetched {
	return broker.Fetched{Err: err, HighWatermark: -1, LastStable: -1, First: -1}
}

// noIsolation is the answer to a request of an isolation that is none, if it is
// about any partition that is there.
func (q *call) noIsolation(resp *kmsg.FetchResponse, f *fetching) *kmsg.FetchResponse {
	resp.ErrorCode = kerr.UnknownServerError.Code
	if q.version >= 13 {
		return resp
	}
	none := make([]broker.Fetched, len(f.parts))
	for i, p := range f.parts {
		p.unknown, none[i] = true, notRead(kerr.UnknownServerError)
	}
	q.fill(resp, f, none, false)
	return resp
}

// wanted is what a part of the request asks of the broker.
func (q *call) wanted(p *fetchPart) broker.FetchPartition {
	w := broker.FetchPartition{Offset: p.offset, MaxBytes: max(int64(p.maxBytes), 1)}
	w.Partition, w.Err = q.find(p)
	p.unknown = w.Err != nil && w.Err != kerr.InconsistentTopicID // with that one Kafka tells of no list
	if w.Err == nil {
		w.Err = fenced(w.Partition, p.currentEpoch)
	}
	if w.Err == nil && p.lastEpoch >= 0 {
		p.diverging, w.Err = diverging(w.Partition, p)
	}
	return w
}

// find is the partition that a part of a request is about. One of a session whose
// topic is gone is told of otherwise than one that was never there.
func (q *call) find(p *fetchPart) (*broker.Partition, error) {
	t, err := q.topic(p.topic, p.id, p.byID)
	if err == nil {
		p.name = t.Name()
		return t.Partition(p.partition)
	}
	if p.byID && p.name != "" {
		if _, again := q.s.b.Partition(p.name, p.partition); again == nil {
			return nil, kerr.InconsistentTopicID
		}
		return nil, kerr.UnknownTopicOrPartition
	}
	return nil, err
}

// fenced holds the leader epoch that a client knows to the present one (KIP-320).
func fenced(p *broker.Partition, known int32) error {
	switch now := p.LeaderEpoch(); {
	case known < 0 || known == now:
		return nil
	case known < now:
		return kerr.FencedLeaderEpoch
	}
	return kerr.UnknownLeaderEpoch
}

// errDiverging stands for an answer that has no error, and no records either.
var errDiverging = failed(&kerr.Error{Message: "DIVERGING"}, "what was fetched last is not in this log")

// diverging tells a client that has records of an epoch which ended here before
// the offset that it asks for (KIP-595).
func diverging(p *broker.Partition, part *fetchPart) (at *kmsg.FetchResponseTopicPartitionDivergingEpoch, err error) {
	l, err := p.Log()
	if err != nil {
		return nil, err
	}
	epoch, end, ok := l.EndOffsetForEpoch(part.lastEpoch)
	switch {
	case !ok:
		return nil, kerr.OffsetOutOfRange
	case epoch == part.lastEpoch && end >= part.offset:
		return nil, nil
	}
	d := kmsg.NewFetchResponseTopicPartitionDivergingEpoch()
	d.Epoch, d.EndOffset = epoch, end
	return &d, errDiverging
}

// fill writes what was read into the answer: of a session only what is new. What
// is not there is told last.
func (q *call) fill(resp *kmsg.FetchResponse, f *fetching, got []broker.Fetched, committed bool) {
	for rank := range 3 {
		q.fillWith(resp, f, got, rank, committed)
	}
}

// rank is which partitions are told of first: those that are there, then those
// of topics whose ids are not known, then others that are not there.
func rank(p *fetchPart, r *broker.Fetched) int {
	switch {
	case !p.unknown:
		return 0
	case code(r.Err) == kerr.UnknownTopicID.Code:
		return 1
	}
	return 2
}

func (q *call) fillWith(resp *kmsg.FetchResponse, f *fetching, got []broker.Fetched, of int, committed bool) {
	for i, p := range f.parts {
		r := &got[i]
		if rank(p, r) != of {
			continue
		}
		if r.Err == errDiverging {
			q.watermarks(p, r)
		}
		if !f.tells(p, r) {
			continue
		}
		n := len(resp.Topics)
		if n == 0 || resp.Topics[n-1].Topic != p.topic || resp.Topics[n-1].TopicID != p.id {
			t := kmsg.NewFetchResponseTopic()
			t.Topic, t.TopicID = p.topic, p.id
			resp.Topics, n = append(resp.Topics, t), n+1
		}
		resp.Topics[n-1].Partitions = append(resp.Topics[n-1].Partitions, q.part(p, r, committed))
	}
}

// watermarks are told though nothing was read.
func (q *call) watermarks(p *fetchPart, r *broker.Fetched) {
	if at, err := q.find(p); err == nil {
		if l, err := at.Log(); err == nil {
			r.HighWatermark, r.LastStable, r.First = l.HighWatermark(), l.LastStable(), l.First()
		}
	}
}

func (q *call) part(p *fetchPart, r *broker.Fetched, committed bool) kmsg.FetchResponseTopicPartition {
	a := kmsg.NewFetchResponseTopicPartition()
	a.Partition, a.HighWatermark, a.LastStableOffset, a.LogStartOffset = p.partition, r.HighWatermark, r.LastStable, r.First
	a.RecordBatches = []byte{}
	if r.Err != nil && r.Err != errDiverging {
		a.ErrorCode = code(r.Err)
	}
	if p.diverging != nil {
		a.DivergingEpoch = *p.diverging
	}
	if (a.ErrorCode == kerr.FencedLeaderEpoch.Code || a.ErrorCode == kerr.NotLeaderForPartition.Code) && q.version >= 16 { // KIP-951
		if at, err := q.find(p); err == nil {
			a.CurrentLeader.LeaderID, a.CurrentLeader.LeaderEpoch = q.s.b.NodeID(), at.LeaderEpoch()
		}
	}
	if committed && r.Err == nil || p.unknown {
		a.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
		for _, t := range r.Aborted {
			aborted := kmsg.NewFetchResponseTopicPartitionAbortedTransaction()
			aborted.ProducerID, aborted.FirstOffset = t.ProducerID, t.First
			a.AbortedTransactions = append(a.AbortedTransactions, aborted)
		}
	}
	if r.View != nil {
		a.RecordBatches = placeholder
	}
	return a
}
