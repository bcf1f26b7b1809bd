// Package group coordinates consumer groups: the classic protocol of Kafka 4.4,
// entire, and the offsets that groups and others commit. It is a state machine.
// It has no clock, no goroutine, no lock and no connection: who drives it passes
// the time, requests and what the log of its partition says, and gets answers
// and records to append. What it decides follows from these alone, in their
// order.
//
//	c := group.New(group.Config{Append: toTheLog, NewMemberID: withUUID})
//	for each record of the partition { c.Replay(...) or c.EndTransaction(...) }
//	c.Loaded(now)
//	c.Join(now, request, reply)                  // answers come by reply, now or in a later call
//	at, ok := c.Next(); ...; c.Tick(now)         // what is due by then
//
// # A coordinator
//
// There is one Coordinator for each partition of __consumer_offsets that a broker
// leads; Partition says which one is a group's. One lock around all its methods
// and around the done funcs of Append makes it safe for concurrent use. A reply
// or Append must not call the coordinator: they hand on what they get. Nothing
// blocks; a call takes time in the number of the group's members or, in Tick and
// EndTransaction, of groups.
//
// # Durability
//
// An answer that promises something waits until the records it stands on are
// durable: a commit, the leader's assignment, a static member's replacement, a
// deletion. Only then is it read by others, too. What the log refuses has not
// happened, and the answer is a code that clients retry on. Two
// things are written without being waited for, as in Kafka: that a group is
// empty, and that a new one exists.
//
// After a restart groups are as their last records say: a group with members is
// stable in its generation, members have a session from Loaded on and go on by
// heartbeats. A rebalance that was on its way is gone; its members are told so by
// UNKNOWN_MEMBER_ID or go on in the old generation.
//
// # States
//
//	         first join               all joined, or time is over
//	Empty ----------------> Preparing -----------------------> Completing
//	  ^                      Rebalance <----------------------  Rebalance
//	  |  nobody joined        |    ^     a join, a leave,            |
//	  +-----------------------+    |     no sync in time             | the leader's sync
//	                               +------------------- Stable <-----+ is durable
//	                                a join, a leave,
//	                                the end of a session
//
// DeleteGroups, or expiry of the last offset, ends an Empty group.
//
// # Records
//
// Keys are of types 1 (offset) and 2 (group), values are of version 4 (offset;
// version 1 with a retention time of its own) and 3 (group), as Kafka 4.4 writes
// them. All versions are read. Records of the groups of KIP-848 are ErrUnknown.
//
// Where this differs from Kafka on purpose is in docs/KAFKA-DIFFERENCES.md.
package group
