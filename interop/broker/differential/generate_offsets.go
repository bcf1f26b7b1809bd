package differential

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

type place struct {
	topic     int
	partition int32
	offset    int64
	epoch     int32
	metadata  *string
}

func (g *generator) place() place {
	return place{g.topic(), g.partition(), mostly[int64](g, 90, g.Int64N(20), -1, -2), mostly[int32](g, 70, -1, 0, 3),
		mostly(g, 60, some(""), nil, some("m"), some(strings.Repeat("x", 4096)), some(strings.Repeat("x", 4097)))}
}

func offsetCommit(g *generator) step {
	by, group, who, member, old := g.IntN(clients), g.group(), g.who(), g.chance(60), g.chance(5)
	instance := g.static(by)
	all := several(g, g.place)
	return askOf(g, by, kmsg.OffsetCommit, func(w *world, c *client) *kmsg.OffsetCommitRequest {
		req := kmsg.NewPtrOffsetCommitRequest()
		req.Group, req.Generation, req.RetentionTimeMillis = w.group(group), -1, -1
		if member {
			req.Generation, req.MemberID, req.InstanceID = c.member(req.Group).generation+who.generation, who.member(w, c, req.Group), instance
		}
		for _, one := range all {
			t := kmsg.NewOffsetCommitRequestTopic()
			t.Topic, t.TopicID = w.topic(one.topic), w.id(w.topic(one.topic), old)
			p := kmsg.NewOffsetCommitRequestTopicPartition()
			p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = one.partition, one.offset, one.epoch, one.metadata
			if req.Generation < 0 && one.metadata != nil && len(*one.metadata) > 4096 {
				// Kafka notes a group whose only commit was refused, and tells of it some
				// time later.
				p.Metadata = some("m")
			}
			t.Partitions = append(t.Partitions, p)
			req.Topics = append(req.Topics, t)
		}
		return req
	})
}

func offsetFetch(g *generator) step {
	groups, which, indexes, all, old := several(g, g.group), several(g, g.topic), several(g, g.partition), g.chance(40), g.chance(5)
	stable := g.chance(30)
	return ask(g, kmsg.OffsetFetch, func(w *world, _ *client) *kmsg.OffsetFetchRequest {
		req := kmsg.NewPtrOffsetFetchRequest()
		req.RequireStable = stable
		for _, i := range groups {
			group := kmsg.NewOffsetFetchRequestGroup()
			group.Group = w.group(i)
			req.Group = group.Group
			if !all {
				for _, i := range which {
					t := kmsg.NewOffsetFetchRequestGroupTopic()
					t.Topic, t.TopicID, t.Partitions = w.topic(i), w.id(w.topic(i), old), indexes
					group.Topics = append(group.Topics, t)
				}
			}
			req.Groups = append(req.Groups, group)
		}
		if !all {
			for _, i := range which {
				t := kmsg.NewOffsetFetchRequestTopic()
				t.Topic, t.Partitions = w.topic(i), indexes
				req.Topics = append(req.Topics, t)
			}
		}
		return req
	})
}

func offsetDelete(g *generator) step {
	group, which, indexes := g.group(), several(g, g.topic), several(g, g.partition)
	return ask(g, kmsg.OffsetDelete, func(w *world, _ *client) *kmsg.OffsetDeleteRequest {
		req := kmsg.NewPtrOffsetDeleteRequest()
		req.Group = w.group(group)
		for _, i := range which {
			t := kmsg.NewOffsetDeleteRequestTopic()
			t.Topic = w.topic(i)
			for _, index := range indexes {
				p := kmsg.NewOffsetDeleteRequestTopicPartition()
				p.Partition = index
				t.Partitions = append(t.Partitions, p)
			}
			req.Topics = append(req.Topics, t)
		}
		return req
	})
}
