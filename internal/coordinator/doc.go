// Package coordinator reads the records that Kafka's coordinators keep: of
// groups in the topic __consumer_offsets, of transactions in
// __transaction_state.
//
// Key and value each begin with an int16: what kind of key it is, which version
// of the value. Fields follow as in requests: strings and bytes behind an int16
// and an int32 of their length, -1 for null; from the flexible versions on
// behind an unsigned varint of their length plus one, with tagged fields at the
// end of each struct. The schemas are Kafka's, in
// group-coordinator/src/main/resources/common/message and
// transaction-coordinator/src/main/resources/common/message.
//
//	__consumer_offsets   key 0, 1  OffsetCommitKey      value 0 to 4, flexible from 4
//	                     key 2     GroupMetadataKey     value 0 to 4, flexible from 4
//	                     key 3 to 23, see groupRecords  value 0, flexible
//	__transaction_state  key 0     TransactionLogKey    value 0 to 1, flexible from 1
//
// Those from 3 on are of the groups of KIP-848, of share groups and of streams
// groups, as of Kafka 4.4. What comes later is ErrUnknown.
//
// Text is JSON in the form of kafka-dump-log with --offsets-decoder and
// --transaction-log-decoder.
package coordinator
