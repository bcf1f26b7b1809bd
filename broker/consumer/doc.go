// Package consumer is Kafka's consumer in the process of its broker: a member of
// the same groups as clients on the network, with the same generations and
// committed offsets, that reads from the logs themselves.
//
//	c, err := consumer.New(b, "billing", consumer.Options{Reset: consumer.Earliest})
//	err = c.Subscribe("orders")
//	for r, err := range c.Records(ctx) { ... }
//	err = c.Close(ctx)
//
// Names and rules are those of Kafka's KafkaConsumer; the setting each option is
// for is named beside it.
//
// # Polling
//
// Poll is the consumer's life: in it, and in Close, the group's rebalances are
// carried out, the Listener is called and positions are committed at intervals
// (auto commit). So between two Polls the partitions stay the caller's, unless
// they are lost, and what an earlier Poll returned counts as processed by the
// next. Who does not Poll for MaxPollInterval leaves the group.
//
// A Poll that has nothing to return waits without polling anything itself: it is
// woken by what moves a partition's high watermark or last stable offset, by
// heartbeats that tell of a rebalance, by the group's coordinator, by topics that
// come and go, and by the other methods.
//
// # Positions
//
// A partition's position is the offset of the next record that Poll returns. It
// begins at the committed offset or, without one, where Options.Reset says. It is
// the topic's by its id: when a topic is deleted and made anew, the position in
// the old one is dropped, and never committed for the new one.
//
// A topic that is gone is no error of Poll, CommitSync without offsets or
// Close: it is waited for, and left out of what is committed.
//
// # Memory
//
// Records that Poll and Records return are the caller's for good. Those of one
// batch share memory, so one that is kept keeps its batch.
//
// # Concurrency
//
// One goroutine at a time may be in Poll, Records, Subscribe, SubscribePattern,
// Assign and Unsubscribe: a second one gets ErrPolling, the Listener's funcs
// included. All other methods may be called at any time, by these funcs too, and
// take effect on a Poll that waits. Close ends a Poll.
//
// There is no goroutine: heartbeats are sent by a timer, which Close stops. Locks,
// in the order in which they are taken: Consumer.mu, then those of the broker.
// The Listener's and CommitAsync's funcs run with none held.
package consumer
