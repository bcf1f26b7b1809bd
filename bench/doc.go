// Package bench measures the engine: go test -bench . ./bench
//
// One verb per file; names spell their case so that benchstat groups them.
// Every benchmark reports records/s beside ns/op, and MB/s of payload.
//
// Below it are limit, what the bare hardware does of the same work; peers, a
// module of its own, what other engines do of it, and a program that compares
// all; workload, what they have in common; manykeys, for what takes minutes; and
// broker, a module of its own, which loads the broker beside Apache Kafka.
package bench
