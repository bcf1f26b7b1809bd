package broker

import (
	"cmp"
	"slices"
)

// BrokerSettings are the keys a broker is configured by, in their order by
// name: its own, and the defaults of topics.
var BrokerSettings = brokerSettings()

func brokerSettings() []*Setting {
	list := []*Setting{
		{Name: "advertised.listeners", Kind: List, ReadOnly: true,
			Doc: "The address clients are told to connect to, like PLAINTEXT://host:9092; the one that is listened on unless set."},
		{Name: "auto.create.topics.enable", Kind: Boolean, Default: "true", ReadOnly: true,
			Doc: "Whether topics are created when clients first ask for them."},
		{Name: "broker.id", Kind: Int, Default: "1", ReadOnly: true, check: atLeast(0),
			Doc: "The older name of node.id."},
		{Name: "connections.max.idle.ms", Kind: Long, Default: "600000", ReadOnly: true,
			Doc: "After what time without a request a connection is closed; a negative one is never."},
		{Name: "default.replication.factor", Kind: Int, Default: "1", ReadOnly: true, check: between(1, 1),
			Doc: "How many replicas topics get; there is one broker, so one."},
		{Name: "delete.topic.enable", Kind: Boolean, Default: "true", ReadOnly: true, Doc: "Whether topics may be deleted."},
		{Name: "fetch.max.bytes", Kind: Int, Default: "57671680", ReadOnly: true, check: atLeast(1024),
			Doc: "The most that one fetch is answered with."},
		{Name: "group.initial.rebalance.delay.ms", Kind: Int, Default: "3000", ReadOnly: true, check: atLeast(0),
			Doc: "How long a new group waits for more members before its first generation."},
		{Name: "group.max.session.timeout.ms", Kind: Int, Default: "1800000", ReadOnly: true, check: atLeast(1),
			Doc: "The longest session timeout that a member of a group may have."},
		{Name: "group.max.size", Kind: Int, Default: "2147483647", ReadOnly: true, check: atLeast(1),
			Doc: "How many members a group may have."},
		{Name: "group.min.session.timeout.ms", Kind: Int, Default: "6000", ReadOnly: true, check: atLeast(0),
			Doc: "The shortest session timeout that a member of a group may have."},
		{Name: "listeners", Kind: List, Default: "PLAINTEXT://127.0.0.1:9092", ReadOnly: true,
			Doc: "The address that is listened on, like PLAINTEXT://:9092 for all of the host's."},
		{Name: "log.cleaner.backoff.ms", Kind: Long, Default: "15000", ReadOnly: true, check: atLeast(1),
			Doc: "How often it is looked for logs to compact."},
		{Name: "log.dirs", Kind: List, ReadOnly: true, Doc: "The directory of the data: one."},
		{Name: "log.flush.offset.checkpoint.interval.ms", Kind: Int, Default: "60000", ReadOnly: true, check: atLeast(1),
			Doc: "How often what was appended is made durable and noted, so that a start after a crash verifies less."},
		{Name: "log.retention.check.interval.ms", Kind: Long, Default: "300000", ReadOnly: true, check: atLeast(1),
			Doc: "How often it is looked for segments to drop."},
		{Name: "log.retention.hours", Kind: Int, Default: "168", ReadOnly: true, Doc: "log.retention.ms in hours, where neither that nor log.retention.minutes is set."},
		{Name: "log.retention.minutes", Kind: Int, ReadOnly: true, Doc: "log.retention.ms in minutes, where that is not set."},
		{Name: "log.roll.hours", Kind: Int, Default: "168", ReadOnly: true, check: atLeast(1), Doc: "log.roll.ms in hours, where that is not set."},
		{Name: "max.connections", Kind: Int, Default: "2147483647", check: atLeast(0),
			Doc: "How many connections are served at a time."},
		{Name: "max.incremental.fetch.session.cache.slots", Kind: Int, Default: "1000", ReadOnly: true, check: atLeast(0),
			Doc: "How many fetch sessions are kept (KIP-227)."},
		{Name: "node.id", Kind: Int, Default: "1", ReadOnly: true, check: atLeast(0), Doc: "The id of this broker."},
		{Name: "num.partitions", Kind: Int, Default: "1", ReadOnly: true, check: between(1, maxPartitions),
			Doc: "How many partitions topics get that are created without a number."},
		{Name: "offset.metadata.max.bytes", Kind: Int, Default: "4096", ReadOnly: true, check: atLeast(1),
			Doc: "The longest metadata that may be committed with an offset."},
		{Name: "offsets.retention.check.interval.ms", Kind: Long, Default: "600000", ReadOnly: true, check: atLeast(1),
			Doc: "How often it is looked for committed offsets to drop."},
		{Name: "offsets.retention.minutes", Kind: Int, Default: "10080", ReadOnly: true, check: atLeast(1),
			Doc: "How long committed offsets are kept since their group was left by its last member, or since they were committed where no group uses them."},
		{Name: "offsets.topic.num.partitions", Kind: Int, Default: "50", ReadOnly: true, check: between(1, maxPartitions),
			Doc: "How many partitions the topic of the committed offsets is created with."},
		{Name: "offsets.topic.replication.factor", Kind: Short, Default: "1", ReadOnly: true, check: between(1, 1),
			Doc: "How many replicas that topic gets; there is one broker, so one."},
		{Name: "offsets.topic.segment.bytes", Kind: Int, Default: "104857600", ReadOnly: true, check: atLeast(1 << 20),
			Doc: "The size that a segment of that topic is not to exceed."},
		{Name: "queued.max.request.bytes", Kind: Long, Default: "268435456", ReadOnly: true, check: atLeast(1 << 20),
			Doc: "How much memory requests may take that are being received or served; no more are received until there is some."},
		{Name: "socket.request.max.bytes", Kind: Int, Default: "104857600", ReadOnly: true, check: atLeast(1),
			Doc: "The largest request that is taken."},
	}
	for _, t := range TopicSettings {
		if t.Broker != "" {
			d := *t
			d.Name, d.Broker = t.Broker, ""
			list = append(list, &d)
		}
	}
	slices.SortFunc(list, func(a, b *Setting) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

var brokerKeys = byName(BrokerSettings)
