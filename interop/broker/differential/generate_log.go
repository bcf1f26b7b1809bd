package differential

import "github.com/twmb/franz-go/pkg/kmsg"

type sentTo struct {
	topic     int
	partition int32
	batch     batch
}

func produce(g *generator) step {
	acks := mostly[int16](g, 60, -1, 1, 1, 1, 0, 0, 2)
	to := several(g, func() sentTo { return sentTo{g.topic(), g.partition(), g.batch()} })
	old := g.chance(5)
	s := ask(g, kmsg.Produce, func(w *world, c *client) *kmsg.ProduceRequest {
		req := kmsg.NewPtrProduceRequest()
		req.Acks, req.TimeoutMillis = acks, 10_000
		seen := make(map[partition]bool)
		for _, one := range to {
			at := partition{w.topic(one.topic), one.partition}
			if seen[at] {
				continue
			}
			seen[at] = true
			topic := kmsg.NewProduceRequestTopic()
			topic.Topic, topic.TopicID = w.topic(one.topic), w.id(w.topic(one.topic), old)
			p := kmsg.NewProduceRequestTopicPartition()
			p.Partition, p.Records = one.partition, one.batch.bytes(c, at)
			topic.Partitions = append(topic.Partitions, p)
			req.Topics = append(req.Topics, topic)
		}
		return req
	})
	return s
}

type read struct {
	topic       int
	partition   int32
	offset      int64
	epoch, last int32
	bytes       int32
}

// limit is of the bytes that are asked for; where records are compressed anew
// there is either all or one batch.
func (g *generator) limit() int32 {
	if g.squeezes {
		return pick[int32](g, 1<<20, 1<<20, 1)
	}
	return mostly[int32](g, 60, 1<<20, 1, 0, 150, 400, 1000)
}

func (g *generator) offset() int64 { return mostly[int64](g, 85, g.Int64N(8), -1, -2, 100, 20) }

func (g *generator) read() read {
	return read{g.topic(), g.partition(), g.offset(), mostly[int32](g, 85, -1, 0, 0, 1), mostly[int32](g, 85, -1, 0, 1), g.limit()}
}

func (r read) request() kmsg.FetchRequestTopicPartition {
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.CurrentLeaderEpoch, p.LastFetchedEpoch, p.PartitionMaxBytes = r.partition, r.offset, r.epoch, r.last, r.bytes
	return p
}

// reads fills a fetch request with different partitions.
func reads(w *world, req *kmsg.FetchRequest, of []read, old bool) {
	seen := make(map[partition]bool)
	for _, r := range of {
		at := partition{w.topic(r.topic), r.partition}
		if seen[at] {
			continue
		}
		seen[at] = true
		topic := kmsg.NewFetchRequestTopic()
		topic.Topic, topic.TopicID = w.topic(r.topic), w.id(w.topic(r.topic), old)
		if n := len(req.Topics); n > 0 && req.Topics[n-1].Topic == topic.Topic {
			req.Topics[n-1].Partitions = append(req.Topics[n-1].Partitions, r.request())
			continue
		}
		topic.Partitions = append(topic.Partitions, r.request())
		req.Topics = append(req.Topics, topic)
	}
}

func newFetch(g *generator) kmsg.FetchRequest {
	req := kmsg.NewFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 0, pick[int32](g, 0, 1), g.limit()
	req.IsolationLevel = mostly[int8](g, 60, 0, 1, 1, 1, 2)
	return req
}

func fetch(g *generator) step {
	base, of, old := newFetch(g), several(g, g.read), g.chance(5)
	return ask(g, kmsg.Fetch, func(w *world, _ *client) *kmsg.FetchRequest {
		req := base
		req.SessionEpoch = -1
		reads(w, &req, of, old)
		return &req
	})
}

// waitingFetch is one that is answered when somebody produces.
func waitingFetch(g *generator) step {
	base, of := newFetch(g), several(g, g.read)
	base.MaxWaitMillis, base.MinBytes = 100_000, mostly[int32](g, 70, 1, 0, 150, 400)
	if g.squeezes {
		base.MinBytes = 1
	}
	s := askOf(g, clients, kmsg.Fetch, func(w *world, _ *client) *kmsg.FetchRequest {
		req := base
		req.SessionEpoch = -1
		reads(w, &req, of, false)
		return &req
	})
	s.parks = true
	return s
}

// session is a fetch that begins, continues or ends a session, or gets it wrong.
func session(g *generator) step {
	base, of, old := newFetch(g), several(g, g.read), g.chance(5)
	if g.chance(30) {
		of = nil
	}
	how := pick(g, "begin", "begin", "go on", "go on", "go on", "go on", "go on", "go on", "again", "skip", "end", "anew", "nobody's", "none")
	var forgotten []read
	if g.chance(20) {
		forgotten = several(g, g.read)
	}
	version := g.version(kmsg.Fetch)
	if g.chance(80) {
		version = g.versions[1][1]
	}
	s := ask(g, kmsg.Fetch, func(w *world, c *client) *kmsg.FetchRequest {
		req := base
		switch how {
		case "begin":
		case "go on":
			req.SessionID, req.SessionEpoch = c.session, c.sessionNext
		case "again":
			req.SessionID, req.SessionEpoch = c.session, c.sessionNext-1
		case "skip":
			req.SessionID, req.SessionEpoch = c.session, c.sessionNext+1
		case "end":
			req.SessionID, req.SessionEpoch = c.session, -1
		case "anew":
			req.SessionID = c.session
		case "nobody's":
			req.SessionID, req.SessionEpoch = noSession, 1
		case "none":
			req.SessionEpoch = 1
		}
		reads(w, &req, of, old)
		for _, r := range forgotten {
			topic := kmsg.NewFetchRequestForgottenTopic()
			topic.Topic, topic.TopicID, topic.Partitions = w.topic(r.topic), w.id(w.topic(r.topic), old), []int32{r.partition}
			req.ForgottenTopics = append(req.ForgottenTopics, topic)
		}
		return &req
	})
	made := s.make
	s.make = func(w *world, c *client) kmsg.Request {
		req := made(w, c)
		req.SetVersion(version)
		return req
	}
	return s
}

func listOffsets(g *generator) step {
	type asked struct {
		topic     int
		partition int32
		time      int64
		epoch     int32
	}
	of := several(g, func() asked {
		return asked{g.topic(), g.partition(), mostly[int64](g, 60, pick[int64](g, -1, -2, -3), -4, -5, -6, -7, longAgo-1, longAgo+10, longAgo+50, longAgo+103, longAgo+1000, 0),
			mostly[int32](g, 85, -1, 0, 1)}
	})
	isolation := mostly[int8](g, 60, 0, 1, 1, 2)
	return ask(g, kmsg.ListOffsets, func(w *world, _ *client) *kmsg.ListOffsetsRequest {
		req := kmsg.NewPtrListOffsetsRequest()
		req.ReplicaID, req.IsolationLevel, req.TimeoutMillis = -1, isolation, 10_000
		seen := make(map[partition]bool)
		for _, a := range of {
			at := partition{w.topic(a.topic), a.partition}
			if seen[at] {
				continue
			}
			seen[at] = true
			topic := kmsg.NewListOffsetsRequestTopic()
			topic.Topic = w.topic(a.topic)
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Partition, p.Timestamp, p.CurrentLeaderEpoch = a.partition, a.time, a.epoch
			topic.Partitions = append(topic.Partitions, p)
			req.Topics = append(req.Topics, topic)
		}
		return req
	})
}

func deleteRecords(g *generator) step {
	topic, index, before := g.topic(), g.partition(), mostly[int64](g, 70, g.Int64N(6), -1, -2, 1000)
	return ask(g, kmsg.DeleteRecords, func(w *world, _ *client) *kmsg.DeleteRecordsRequest {
		req := kmsg.NewPtrDeleteRecordsRequest()
		req.TimeoutMillis = 10_000
		t := kmsg.NewDeleteRecordsRequestTopic()
		t.Topic = w.topic(topic)
		p := kmsg.NewDeleteRecordsRequestTopicPartition()
		p.Partition, p.Offset = index, before
		t.Partitions = append(t.Partitions, p)
		req.Topics = append(req.Topics, t)
		return req
	})
}

func offsetForLeaderEpoch(g *generator) step {
	topic, index, current, epoch := g.topic(), g.partition(), mostly[int32](g, 70, -1, 0, 1), pick[int32](g, -1, 0, 0, 1, 5)
	return ask(g, kmsg.OffsetForLeaderEpoch, func(w *world, _ *client) *kmsg.OffsetForLeaderEpochRequest {
		req := kmsg.NewPtrOffsetForLeaderEpochRequest()
		req.ReplicaID = -2 // a client
		t := kmsg.NewOffsetForLeaderEpochRequestTopic()
		t.Topic = w.topic(topic)
		p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		p.Partition, p.CurrentLeaderEpoch, p.LeaderEpoch = index, current, epoch
		t.Partitions = append(t.Partitions, p)
		req.Topics = append(req.Topics, t)
		return req
	})
}

func initProducerID(g *generator) step {
	id, epoch, timeout := mostly[int64](g, 90, -1, 0, 5), mostly[int16](g, 90, -1, 0), pick[int32](g, 60_000, 0, -1)
	return ask(g, kmsg.InitProducerID, func(*world, *client) *kmsg.InitProducerIDRequest {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.ProducerID, req.ProducerEpoch, req.TransactionTimeoutMillis = id, epoch, timeout
		return req
	})
}

func describeProducers(g *generator) step {
	topic, indexes := g.topic(), several(g, g.partition)
	return ask(g, kmsg.DescribeProducers, func(w *world, _ *client) *kmsg.DescribeProducersRequest {
		req := kmsg.NewPtrDescribeProducersRequest()
		t := kmsg.NewDescribeProducersRequestTopic()
		t.Topic, t.Partitions = w.topic(topic), indexes
		req.Topics = append(req.Topics, t)
		return req
	})
}
