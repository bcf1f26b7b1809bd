// Package kafkadir is what a Kafka broker keeps in a log directory beside the
// logs: how partitions' directories are named, and the small text files.
//
// # Names
//
//	TOPIC-N                        a partition: split at the last "-"
//	TOPIC-N.<32 hex digits>-delete one that was deleted, to be unlinked; TOPIC is
//	                               cut so that the name has at most 255 bytes
//	TOPIC-N.<32 hex digits>-future a copy being made, of a partition elsewhere
//	TOPIC-N.<32 hex digits>-stray  one that the cluster does not know; kept
//
// # Checkpoints
//
// Text: a version line, "0"; the number of entries; a line "TOPIC N OFFSET" for
// each. Lines end in LF, CR LF or CR, fields are apart by any blanks, the order
// is arbitrary. An empty file, or a version alone, has no entries. Anything else
// is an error, and then nothing of the file is believed.
//
//	recovery-point-offset-checkpoint  first offset not known to be durable
//	replication-offset-checkpoint     high watermark
//	log-start-offset-checkpoint       log start, where it is inside the first segment
//	cleaner-offset-checkpoint         first offset that compaction has not seen
//
// # meta.properties
//
// A Java properties file: who the directory belongs to. Version 0 has broker.id,
// and mostly cluster.id; version 1 (KRaft) has node.id, cluster.id and, since
// 3.7, directory.id. Without a version it is 0.
//
// # partition.metadata
//
// In a partition's directory: "version: 0", LF, "topic_id: " and the id in 22
// characters of URL-safe base64, without a line end.
//
// # .kafka_cleanshutdown
//
// It is there only if all logs were closed, after which Kafka looks at none of
// them. Since 3.7 it holds {"version":0,"brokerEpoch":N}. A broker takes it away
// when it starts, whoever wrote it.
package kafkadir
