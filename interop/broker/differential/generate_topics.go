package differential

import "github.com/twmb/franz-go/pkg/kmsg"

type setting struct {
	name  string
	value *string
}

func some(s string) *string { return &s }

// settingsOf are values of topics' configurations, wrong ones too. None has
// records go by themselves.
var settingsOf = map[string][]string{
	"cleanup.policy":                          {"delete", "compact", "compact,delete", "", "both", "delete,delete"},
	"max.message.bytes":                       {"1000", "500", "1048588", "-1", "x"},
	"message.timestamp.type":                  {"CreateTime", "LogAppendTime", "createtime"},
	"message.timestamp.before.max.ms":         {"9223372036854775807", "20000000", "-1"},
	"message.timestamp.after.max.ms":          {"3600000", "9223372036854775807", "-5"},
	"min.insync.replicas":                     {"1", "2", "0"},
	"retention.ms":                            {"-1", "604800000", "-2", "1.5"},
	"retention.bytes":                         {"-1", "1073741824", "-3"},
	"segment.bytes":                           {"1073741824", "1048576", "10", "99999999999"},
	"segment.ms":                              {"604800000", "0", "-1"},
	"delete.retention.ms":                     {"86400000", "-1"},
	"min.cleanable.dirty.ratio":               {"0.5", "1", "1.1", "-0.1", "a"},
	"min.compaction.lag.ms":                   {"0", "1000", "-1"},
	"max.compaction.lag.ms":                   {"9223372036854775807", "1000", "0"},
	"unclean.leader.election.enable":          {"true", "false", "TRUE", "maybe"},
	"index.interval.bytes":                    {"4096", "0", "-1"},
	"flush.messages":                          {"1", "9223372036854775807", "0"},
	"flush.ms":                                {"1000", "-1"},
	"file.delete.delay.ms":                    {"60000", "-1"},
	"preallocate":                             {"true", "false", "1"},
	"no.such.key":                             {"1"},
	"leader.replication.throttled.replicas":   {"*", "0:1", "", "0:1,1:1", "x"},
	"follower.replication.throttled.replicas": {"*", "1:2:3"},
	"local.retention.ms":                      {"-2", "-1", "1000", "-3"},
	"compression.type":                        {"producer", "none", "uncompressed", "zip"},
	"segment.index.bytes":                     {"10485760", "12", "3"}, // with 4 to 11 Kafka takes the topic, and its log is offline
	"segment.jitter.ms":                       {"0", "-1"},
}

var settingNames = []string{"cleanup.policy", "cleanup.policy", "cleanup.policy", "max.message.bytes", "max.message.bytes", "message.timestamp.type",
	"message.timestamp.type", "message.timestamp.before.max.ms", "message.timestamp.after.max.ms", "min.insync.replicas", "retention.ms", "retention.bytes",
	"segment.bytes", "segment.ms", "delete.retention.ms", "min.cleanable.dirty.ratio", "min.compaction.lag.ms", "max.compaction.lag.ms",
	"unclean.leader.election.enable", "index.interval.bytes", "flush.messages", "flush.ms", "file.delete.delay.ms", "preallocate", "no.such.key",
	"leader.replication.throttled.replicas", "follower.replication.throttled.replicas", "local.retention.ms", "compression.type",
	"segment.index.bytes", "segment.jitter.ms"}

// setting is one of a topic.
func (g *generator) setting() setting {
	name := pick(g, settingNames...)
	if g.squeezes && g.chance(30) {
		return setting{"compression.type", some(pick(g, "gzip", "snappy", "lz4", "zstd", "producer", "none"))}
	}
	value := pick(g, settingsOf[name]...)
	if g.chance(60) {
		value = settingsOf[name][0]
	}
	if name == "compression.type" && !g.squeezes && value != "zip" {
		value = "producer"
	}
	return setting{name, &value}
}

type newTopic struct {
	topic      int
	name       string // in place of it
	partitions int32
	copies     int16
	assigned   [][]int32
	settings   []setting
}

func (g *generator) newTopic() newTopic {
	t := newTopic{topic: g.topic(), partitions: mostly[int32](g, 75, 1+g.Int32N(3), -1, 0, -2), copies: mostly[int16](g, 85, 1, -1, 0, 2, -2)}
	if g.chance(5) {
		t.name = pick(g, "a b", "", "..", "a/b")
	}
	if t.topic == topics { // it is made by nobody
		t.topic = 0
	}
	if g.chance(10) {
		t.partitions, t.copies = mostly[int32](g, 80, -1, 1), -1
		t.assigned = pick(g, [][]int32{{1}}, [][]int32{{1}, {1}}, [][]int32{{2}}, [][]int32{{1, 1}}, [][]int32{{}})
	}
	for range pick(g, 0, 0, 1, 1, 2, 3) {
		t.settings = append(t.settings, g.setting())
	}
	return t
}

func (t newTopic) request(w *world) kmsg.CreateTopicsRequestTopic {
	r := kmsg.NewCreateTopicsRequestTopic()
	r.Topic, r.NumPartitions, r.ReplicationFactor = w.topic(t.topic), t.partitions, t.copies
	if t.name != "" {
		r.Topic = t.name
	}
	for i, replicas := range t.assigned {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition, a.Replicas = int32(i), replicas
		r.ReplicaAssignment = append(r.ReplicaAssignment, a)
	}
	for _, s := range t.settings {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = s.name, s.value
		r.Configs = append(r.Configs, c)
	}
	return r
}

func create(g *generator, all []newTopic, timeout int32, validate bool) step {
	return ask(g, kmsg.CreateTopics, func(w *world, _ *client) *kmsg.CreateTopicsRequest {
		req := kmsg.NewPtrCreateTopicsRequest()
		req.TimeoutMillis, req.ValidateOnly = timeout, validate
		for _, t := range all {
			req.Topics = append(req.Topics, t.request(w))
		}
		return req
	})
}

func createTopics(g *generator) step {
	return create(g, several(g, g.newTopic), g.timeout(), g.chance(10))
}

// timeout is mostly long enough.
func (g *generator) timeout() int32 { return mostly[int32](g, 95, 10_000, 0, -1) }

// firstTopics has what most of a conversation is about.
func firstTopics(g *generator) step {
	all := []newTopic{{topic: 0, partitions: 1 + g.Int32N(3), copies: 1}, {topic: 1, partitions: 1 + g.Int32N(2), copies: 1}}
	for g.chance(40) && len(all[1].settings) < 3 {
		all[1].settings = append(all[1].settings, g.setting())
	}
	return create(g, all, 10_000, false)
}

func deleteTopics(g *generator) step {
	which, ids, old, both, timeout := several(g, g.topic), g.chance(40), g.chance(10), g.chance(5), g.timeout()
	return ask(g, kmsg.DeleteTopics, func(w *world, _ *client) *kmsg.DeleteTopicsRequest {
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.TimeoutMillis = timeout
		for _, i := range which {
			name := w.topic(i)
			req.TopicNames = append(req.TopicNames, name)
			t := kmsg.NewDeleteTopicsRequestTopic()
			if ids || both {
				t.TopicID = w.id(name, old)
			}
			if !ids || both {
				t.Topic = &name
			}
			req.Topics = append(req.Topics, t)
		}
		return req
	})
}

func createPartitions(g *generator) step {
	type grown struct {
		topic    int
		count    int32
		assigned [][]int32
	}
	all := several(g, func() grown {
		t := grown{topic: g.topic(), count: mostly[int32](g, 80, 1+g.Int32N(4), 0, -1)}
		if g.chance(15) {
			t.assigned = pick(g, [][]int32{{1}}, [][]int32{{1}, {1}}, [][]int32{{2}}, [][]int32{{}})
		}
		return t
	})
	timeout, validate := g.timeout(), g.chance(10)
	return ask(g, kmsg.CreatePartitions, func(w *world, _ *client) *kmsg.CreatePartitionsRequest {
		req := kmsg.NewPtrCreatePartitionsRequest()
		req.TimeoutMillis, req.ValidateOnly = timeout, validate
		for _, one := range all {
			t := kmsg.NewCreatePartitionsRequestTopic()
			t.Topic, t.Count = w.topic(one.topic), one.count
			for _, replicas := range one.assigned {
				a := kmsg.NewCreatePartitionsRequestTopicAssignment()
				a.Replicas = replicas
				t.Assignment = append(t.Assignment, a)
			}
			req.Topics = append(req.Topics, t)
		}
		return req
	})
}

func describeConfigs(g *generator) step {
	which, synonyms, docs := several(g, g.topic), g.chance(50), g.chance(10)
	var names []string
	if g.chance(60) {
		names = several(g, func() string { return pick(g, settingNames...) })
	}
	return ask(g, kmsg.DescribeConfigs, func(w *world, _ *client) *kmsg.DescribeConfigsRequest {
		req := kmsg.NewPtrDescribeConfigsRequest()
		req.IncludeSynonyms, req.IncludeDocumentation = synonyms, docs
		for _, i := range which {
			r := kmsg.NewDescribeConfigsRequestResource()
			r.ResourceType, r.ResourceName, r.ConfigNames = kmsg.ConfigResourceTypeTopic, w.topic(i), names
			req.Resources = append(req.Resources, r)
		}
		return req
	})
}

func alterConfigs(g *generator) step {
	topic, settings, validate := g.topic(), several(g, g.setting), g.chance(15)
	return ask(g, kmsg.AlterConfigs, func(w *world, _ *client) *kmsg.AlterConfigsRequest {
		req := kmsg.NewPtrAlterConfigsRequest()
		req.ValidateOnly = validate
		r := kmsg.NewAlterConfigsRequestResource()
		r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, w.topic(topic)
		for _, s := range settings {
			c := kmsg.NewAlterConfigsRequestResourceConfig()
			c.Name, c.Value = s.name, s.value
			r.Configs = append(r.Configs, c)
		}
		req.Resources = append(req.Resources, r)
		return req
	})
}

func incrementalAlterConfigs(g *generator) step {
	type change struct {
		setting
		op kmsg.IncrementalAlterConfigOp
	}
	topic, validate := g.topic(), g.chance(15)
	changes := several(g, func() change {
		c := change{g.setting(), mostly(g, 60, kmsg.IncrementalAlterConfigOpSet, kmsg.IncrementalAlterConfigOpDelete,
			kmsg.IncrementalAlterConfigOpAppend, kmsg.IncrementalAlterConfigOpSubtract)}
		if c.op == kmsg.IncrementalAlterConfigOpDelete && g.chance(50) || g.chance(3) {
			c.value = nil
		}
		return c
	})
	return ask(g, kmsg.IncrementalAlterConfigs, func(w *world, _ *client) *kmsg.IncrementalAlterConfigsRequest {
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		req.ValidateOnly = validate
		r := kmsg.NewIncrementalAlterConfigsRequestResource()
		r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, w.topic(topic)
		for _, ch := range changes {
			c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
			c.Name, c.Value, c.Op = ch.name, ch.value, ch.op
			r.Configs = append(r.Configs, c)
		}
		req.Resources = append(req.Resources, r)
		return req
	})
}
