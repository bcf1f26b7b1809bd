package differential

import "github.com/twmb/franz-go/pkg/kmsg"

func metadata(g *generator) step {
	which, how, create, operations := distinct(several(g, g.topic)), pick(g, "names", "names", "names", "ids", "both", "all", "none"), g.chance(15), g.chance(15)
	old := g.chance(10)
	return ask(g, kmsg.Metadata, func(w *world, _ *client) *kmsg.MetadataRequest {
		req := kmsg.NewPtrMetadataRequest()
		req.AllowAutoTopicCreation, req.IncludeClusterAuthorizedOperations, req.IncludeTopicAuthorizedOperations = create, operations, operations
		if how == "none" {
			req.Topics = []kmsg.MetadataRequestTopic{}
		}
		if how == "all" || how == "none" {
			return req
		}
		for _, i := range which {
			t := kmsg.NewMetadataRequestTopic()
			name := w.topic(i)
			if t.Topic = &name; how != "names" {
				t.TopicID = w.id(name, old)
			}
			if how == "ids" {
				t.Topic = nil
			}
			req.Topics = append(req.Topics, t)
		}
		return req
	})
}

func findCoordinator(g *generator) step {
	which := several(g, func() int { return g.IntN(groups) })
	return ask(g, kmsg.FindCoordinator, func(w *world, _ *client) *kmsg.FindCoordinatorRequest {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorKey = w.group(which[0])
		for _, i := range which {
			req.CoordinatorKeys = append(req.CoordinatorKeys, w.group(i))
		}
		return req
	})
}

func describeTopicPartitions(g *generator) step {
	which, limit, cursor := several(g, g.topic), mostly[int32](g, 60, 2000, 1, 2, 3), g.chance(30)
	from, at := mostly(g, 90, g.Int32N(3), -1), which[0]
	if g.chance(20) {
		at = g.topic()
	}
	return ask(g, kmsg.DescribeTopicPartitions, func(w *world, _ *client) *kmsg.DescribeTopicPartitionsRequest {
		req := kmsg.NewPtrDescribeTopicPartitionsRequest()
		req.ResponsePartitionLimit = limit
		for _, i := range which {
			t := kmsg.NewDescribeTopicPartitionsRequestTopic()
			t.Topic = w.topic(i)
			req.Topics = append(req.Topics, t)
		}
		if cursor {
			c := kmsg.NewDescribeTopicPartitionsRequestCursor()
			c.Topic, c.Partition = w.topic(at), from
			req.Cursor = &c
		}
		return req
	})
}

func describeLogDirs(g *generator) step {
	if g.squeezes {
		return describeCluster(g) // sizes depend on how well is compressed
	}
	which, indexes, all := distinct(several(g, g.topic)), distinct(several(g, g.partition)), g.chance(30)
	return ask(g, kmsg.DescribeLogDirs, func(w *world, _ *client) *kmsg.DescribeLogDirsRequest {
		req := kmsg.NewPtrDescribeLogDirsRequest()
		if all {
			return req
		}
		for _, i := range which {
			t := kmsg.NewDescribeLogDirsRequestTopic()
			t.Topic, t.Partitions = w.topic(i), indexes
			req.Topics = append(req.Topics, t)
		}
		return req
	})
}

func electLeaders(g *generator) step {
	which, indexes, unclean := distinct(several(g, g.topic)), distinct(several(g, g.partition)), g.Int32N(2)
	return ask(g, kmsg.ElectLeaders, func(w *world, _ *client) *kmsg.ElectLeadersRequest {
		req := kmsg.NewPtrElectLeadersRequest()
		req.TimeoutMillis, req.ElectionType = 10_000, int8(unclean)
		for _, i := range which {
			t := kmsg.NewElectLeadersRequestTopic()
			t.Topic, t.Partitions = w.topic(i), indexes
			req.Topics = append(req.Topics, t)
		}
		return req
	})
}

func describeCluster(g *generator) step {
	operations, endpoints := g.chance(30), mostly[int8](g, 85, 1, 2, 3)
	return ask(g, kmsg.DescribeCluster, func(*world, *client) *kmsg.DescribeClusterRequest {
		req := kmsg.NewPtrDescribeClusterRequest()
		req.IncludeClusterAuthorizedOperations, req.EndpointType = operations, endpoints
		return req
	})
}
