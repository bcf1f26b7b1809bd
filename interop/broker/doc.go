// Package broker holds the broker, as the command serves it, to what Apache
// Kafka answers, and to clients that are not written here.
//
// Kafka's answers are in the folder shared/kafka-answers beside the module, or
// where SEGLOG_KAFKA_ANSWERS says: a program that asks a broker a fixed list of
// questions, and what Kafka 4.4.0 answered. Where it is missing the test is
// skipped.
//
// The folder differential holds it against Kafka itself, where that can be run.
package broker
