// Package assign divides the partitions of topics among the members of a
// consumer group: the range, round-robin, sticky and cooperative-sticky
// assignors of Kafka 4.4, to the last tie.
//
// An assignor runs in the member that the coordinator made the leader, so all
// members of a group may be of different implementations: what counts is the
// bytes which they exchange, of which this package has the codec
// (ConsumerProtocolSubscription and ConsumerProtocolAssignment, versions 0 to 3).
//
// Assignors are pure functions: no clock, no state from one call to the next,
// no map order. Where Kafka's result depends on the order of a Java HashMap
// (which of two equal members keeps one partition more), that order is computed
// from the hash codes of the names, so that the result is Kafka's there too.
// The cases in which Kafka's assignors go wrong and these do not are listed in
// docs/KAFKA-DIFFERENCES.md.
//
// # Who gets what
//
//	range               of each topic, members in order get consecutive partitions; the first ones
//	                    one more. With racks (KIP-881) what matches goes first, topics with equally
//	                    many partitions and the same members are kept together.
//	roundrobin          all partitions in order are dealt to the members in order.
//	sticky              as balanced as can be, and members keep what they have (KIP-54).
//	cooperative-sticky  the same, but a partition that another member still has is left out: its
//	                    owner gives it up first and another rebalance follows (KIP-429).
//
// Members of range and roundrobin are in the order of their instance ids, then
// of their ids, in the sticky ones of their ids.
package assign
