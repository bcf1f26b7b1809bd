package broker

import (
	"errors"
	"math"
	"regexp"
	"strconv"
)

const forever = "9223372036854775807"

// TopicSettings are the keys a topic is configured by, in their order by name:
// all those that Kafka 4.4 has. docs/KAFKA-DIFFERENCES.md lists the ones that
// mean nothing here.
var TopicSettings = []*Setting{
	{Name: "cleanup.policy", Kind: List, Default: "delete", Broker: "log.cleanup.policy", check: each(oneOf("compact", "delete")),
		Doc: "What becomes of old records: delete drops whole segments by age and size, compact keeps the newest record of each key; with both, both, with neither everything is kept."},
	{Name: "compression.gzip.level", Kind: Int, Default: "-1", Broker: "compression.gzip.level", check: gzipLevel,
		Doc: "Accepted for compatibility; the broker compresses at the codec's own default."},
	{Name: "compression.lz4.level", Kind: Int, Default: "9", Broker: "compression.lz4.level", check: between(1, 17),
		Doc: "Accepted for compatibility; the broker compresses at the codec's own default."},
	{Name: "compression.type", Kind: String, Default: "producer", Broker: "compression.type",
		check: oneOf("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
		Doc:   "The codec in which batches are kept; producer keeps the one they came in."},
	{Name: "compression.zstd.level", Kind: Int, Default: "3", Broker: "compression.zstd.level", check: between(-131072, 22),
		Doc: "Accepted for compatibility; the broker compresses at the codec's own default."},
	{Name: "delete.retention.ms", Kind: Long, Default: "86400000", Broker: "log.cleaner.delete.retention.ms", check: atLeast(0),
		Doc: "How long compaction keeps tombstones."},
	{Name: "errors.deadletterqueue.group.enable", Kind: Boolean, Default: "false",
		Doc: "Accepted for compatibility; there are no share groups."},
	{Name: "file.delete.delay.ms", Kind: Long, Default: "60000", Broker: "log.segment.delete.delay.ms", check: atLeast(0),
		Doc: "How long files of dropped segments and deleted topics stay on disk."},
	{Name: "flush.messages", Kind: Long, Default: forever, Broker: "log.flush.interval.messages", check: atLeast(1),
		Doc: "After how many records the log is synced to disk, before the produce request is answered."},
	{Name: "flush.ms", Kind: Long, Default: forever, Broker: "log.flush.interval.ms", check: atLeast(0),
		Doc: "After what time at most records are synced to disk."},
	{Name: "follower.replication.throttled.replicas", Kind: List, check: throttled, Doc: "Accepted for compatibility; there is one replica."},
	{Name: "index.interval.bytes", Kind: Int, Default: "4096", Broker: "log.index.interval.bytes", check: atLeast(0),
		Doc: "Accepted for compatibility; the engine chooses."},
	{Name: "leader.replication.throttled.replicas", Kind: List, check: throttled, Doc: "Accepted for compatibility; there is one replica."},
	{Name: "local.retention.bytes", Kind: Long, Default: "-2", Broker: "log.local.retention.bytes", check: atLeast(-2),
		Doc: "Accepted for compatibility; there is no tiered storage."},
	{Name: "local.retention.ms", Kind: Long, Default: "-2", Broker: "log.local.retention.ms", check: atLeast(-2),
		Doc: "Accepted for compatibility; there is no tiered storage."},
	{Name: "max.compaction.lag.ms", Kind: Long, Default: forever, Broker: "log.cleaner.max.compaction.lag.ms", check: atLeast(1),
		Doc: "After what time a record is compacted at the latest."},
	{Name: "max.decompressed.message.bytes", Kind: Int, Default: "2147483639", Broker: "max.decompressed.message.bytes", check: atLeast(1),
		Doc: "The size above which a batch is refused once decompressed; the broker's own limit of 64 MiB holds as well."},
	{Name: "max.message.bytes", Kind: Int, Default: "1048588", Broker: "message.max.bytes", check: atLeast(0),
		Doc: "The largest batch that is taken."},
	{Name: "message.timestamp.after.max.ms", Kind: Long, Default: "3600000", Broker: "log.message.timestamp.after.max.ms", check: atLeast(0),
		Doc: "How far in the future a record's own time may be."},
	{Name: "message.timestamp.before.max.ms", Kind: Long, Default: forever, Broker: "log.message.timestamp.before.max.ms", check: atLeast(0),
		Doc: "How far in the past a record's own time may be."},
	{Name: "message.timestamp.type", Kind: String, Default: "CreateTime", Broker: "log.message.timestamp.type", check: oneOf("CreateTime", "LogAppendTime"),
		Doc: "Whether records keep their own times or get that of the append."},
	{Name: "min.cleanable.dirty.ratio", Kind: Double, Default: "0.5", Broker: "log.cleaner.min.cleanable.ratio", check: ratio,
		Doc: "What share of a log must be dirty for it to be compacted."},
	{Name: "min.compaction.lag.ms", Kind: Long, Default: "0", Broker: "log.cleaner.min.compaction.lag.ms", check: atLeast(0),
		Doc: "How long a record stays uncompacted at least."},
	{Name: "min.insync.replicas", Kind: Int, Default: "1", Broker: "min.insync.replicas", check: atLeast(1),
		Doc: "How many replicas acks=all asks for, at most the replication factor."},
	{Name: "preallocate", Kind: Boolean, Default: "false", Broker: "log.preallocate",
		Doc: "Accepted for compatibility; the engine allocates ahead in steps."},
	{Name: "remote.copy.lag.bytes", Kind: Long, Default: "-1", Broker: "log.remote.copy.lag.bytes", check: atLeast(-1),
		Doc: "Accepted for compatibility; there is no tiered storage."},
	{Name: "remote.copy.lag.ms", Kind: Long, Default: "0", Broker: "log.remote.copy.lag.ms", check: atLeast(-1),
		Doc: "Accepted for compatibility; there is no tiered storage."},
	{Name: "remote.log.copy.disable", Kind: Boolean, Default: "false", Doc: "Accepted for compatibility; there is no tiered storage."},
	{Name: "remote.log.delete.on.disable", Kind: Boolean, Default: "false", Doc: "Accepted for compatibility; there is no tiered storage."},
	{Name: "remote.storage.enable", Kind: Boolean, Default: "false", check: oneOf("false"),
		Doc: "There is no tiered storage: only false is taken."},
	{Name: "retention.bytes", Kind: Long, Default: "-1", Broker: "log.retention.bytes",
		Doc: "The size of a partition above which its oldest segments go; what is negative is no limit."},
	{Name: "retention.ms", Kind: Long, Default: "604800000", Broker: "log.retention.ms", check: atLeast(-1),
		Doc: "The age above which segments go; -1 is no limit."},
	{Name: "segment.bytes", Kind: Int, Default: "1073741824", Broker: "log.segment.bytes", check: atLeast(1 << 20),
		Doc: "The size a segment is not to exceed."},
	{Name: "segment.index.bytes", Kind: Int, Default: "10485760", Broker: "log.index.size.max.bytes", check: atLeast(4),
		Doc: "Accepted for compatibility; the engine chooses."},
	{Name: "segment.jitter.ms", Kind: Long, Default: "0", Broker: "log.roll.jitter.ms", check: atLeast(0),
		Doc: "Accepted for compatibility; segments end by segment.ms alone."},
	{Name: "segment.ms", Kind: Long, Default: "604800000", Broker: "log.roll.ms", check: atLeast(1),
		Doc: "The span of time after which a segment ends though it is not full."},
	{Name: "unclean.leader.election.enable", Kind: Boolean, Default: "false", Broker: "unclean.leader.election.enable",
		Doc: "Accepted for compatibility; there is one replica."},
}

func gzipLevel(text string) error {
	if n, _ := strconv.Atoi(text); n == -1 {
		return nil
	}
	return between(1, 9)(text)
}

var partitionAndBroker = regexp.MustCompile(`^(\d+:\d+)?$`)

// throttled is what replicas there may be of.
func throttled(text string) error {
	list := Elements(text)
	if len(list) > 0 && list[0] == "*" {
		return nil
	}
	for _, e := range list {
		if !partitionAndBroker.MatchString(e) {
			return errors.New("it must be * or a list of partition:broker")
		}
	}
	return nil
}

var topicSettings = byName(TopicSettings)

func byName(list []*Setting) map[string]*Setting {
	m := make(map[string]*Setting, len(list))
	for _, s := range list {
		m[s.Name] = s
	}
	return m
}

// hours and minutes are the older keys for a default that is in milliseconds
// now: it counts where the newer one is not set.
var olderKeys = map[string][]struct {
	name string
	ms   int64
}{
	"log.retention.ms": {{"log.retention.minutes", 60_000}, {"log.retention.hours", 3_600_000}},
	"log.roll.ms":      {{"log.roll.hours", 3_600_000}},
}

// scaled is a number times a factor, at most the largest.
func scaled(text string, factor int64) string {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || n < 0:
		return "-1"
	case n > math.MaxInt64/factor:
		return forever
	}
	return strconv.FormatInt(n*factor, 10)
}
