// Command suites runs the test suites of other people's clients against the
// broker, as "seglog serve" runs it.
//
//	go run . kgo           franz-go's package kgo: a minute
//	go run . kafka-go      segmentio/kafka-go, on port 9092: some minutes
//	go run . librdkafka    librdkafka's, one test number after the other: half an hour
//	go run . librdkafka-noautocreate
//	go run . -only 0012,0015 librdkafka
//
// The first two come from the module proxy, the third lies in the npm package
// @confluentinc/kafka-javascript and is compiled: it takes npm, make and a C++
// compiler, and Debian's packages of OpenSSL, zlib, zstd and RapidJSON, which
// are installed where they are missing. What was compiled is kept in the user's cache folder.
//
// A test that fails has to be one of those that are named, with a reason, in the
// suite's file; any other makes it end with 1. Apache Kafka 4.4 itself does not
// pass all of them.
package main
