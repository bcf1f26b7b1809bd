// Package broker is topics and partitions: names to logs. It is what a Kafka
// broker is without its network, which package broker/kafka adds.
//
//	b, err := broker.Open(dir, broker.Options{})
//	t, err := b.CreateTopic(ctx, broker.TopicSpec{Name: "orders", Partitions: 3})
//	first, err := b.Produce(ctx, "orders", 0, record.Record{Value: []byte("hello")})
//	got := b.Fetch(ctx, broker.FetchOptions{}, []broker.FetchPartition{{Partition: p, Offset: first}})
//
// One process has a directory at a time. The broker is the only replica of each
// partition and its leader, so that the high watermark is the log end offset.
//
// # On disk
//
// The directory is a Kafka broker's log directory (package log, Manager): a
// directory for each partition, with the topic's id in partition.metadata, and
// meta.properties, which says whose it is. What Kafka keeps in its cluster's
// metadata, and these do not tell, is in the file seglog.broker: each topic's
// configuration and number of partitions, what was altered of the broker's, and
// how far producer ids were given away. It is replaced as a whole, durably, before
// a change is answered.
//
// A topic that only the directories tell of is taken in, as when the directory
// was Kafka's before. Its configuration is not known then, so nothing of it is
// ever dropped unless somebody configures it again.
//
// # What is kept of a topic through a crash
//
// The file says what is to be before directories are made or removed, and that
// they were afterwards. Opening removes what was not completely made, which nobody
// was told of, and what was not completely removed.
//
// # Consumer groups
//
// Package group coordinates them; the broker gives it, for each partition of
// __consumer_offsets, a lock, a clock and that partition's log (Group, Groups).
// OffsetsTopic creates the topic. What groups write is as safe as what is
// produced. After Open groups are being loaded: until that is done they answer
// COORDINATOR_LOAD_IN_PROGRESS. A log of which not everything can be read has no
// groups (NOT_COORDINATOR).
//
// # Errors
//
// Errors wrap those of franz-go's package kerr, Kafka's error codes, where Kafka
// has one: errors.Is(err, kerr.UnknownTopicOrPartition).
//
// # Concurrency
//
// All methods may be called concurrently. Open starts goroutines for upkeep, and
// Close ends them. Locks, in the order in which they are taken: Broker.change,
// held by who changes topics or configurations, then that of a group's
// coordinator, then Broker.mu.
package broker
