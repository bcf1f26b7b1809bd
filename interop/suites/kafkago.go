package main

import (
	"context"
	"os"
	"regexp"
)

const (
	ofKafka = "it fails on Apache Kafka 4.4, too"
	absent  = "its API is not served: there are no "
)

// kafkaGo is the tests of segmentio/kafka-go. They know the broker's address.
var kafkaGo = suite{
	listen:   "127.0.0.1:9092",
	settings: []string{"advertised.listeners=PLAINTEXT://localhost:9092", "num.partitions=1", "message.max.bytes=200000000"},
	expected: map[string]string{
		"kafka-go/TestClientAlterClientQuotas":                      absent + "quotas",
		"kafka-go/Test(Alter|Describe)UserScramCredentials":         absent + "SCRAM credentials",
		"kafka-go/TestClient(Alter|List)PartitionReassignments.*":   absent + "reassignments",
		"kafka-go/TestClient(Create|Delete|Describe)ACLs":           "there is no authorizer; as with Apache Kafka when it has none",
		"kafka-go/TestUnsupportedSASLMechanism|sasl/TestSASL.*":     "there is no listener with SASL",
		"kafka-go/TestWriter/writing_a_message_with_SASL.*":         "there is no listener with SASL",
		"kafka-go/TestConn/test_delete_topics.*":                    "a topic that Metadata creates is there in its answer (docs/KAFKA-DIFFERENCES.md, 1)",
		"kafka-go/TestReaderReadCompactedMessage":                   ofKafka + ": segment.bytes of 200 is less than is taken",
		"kafka-go/TestReaderConsumerGroup/consumer_group_rebalance": ofKafka,
		"kafka-go/(TestConn|TestWriter|TestReaderConsumerGroup)":    "parts of it fail, as above",
	},
	run: func(ctx context.Context, _ string, only *regexp.Regexp, tell func(string, result)) error {
		dir, err := os.MkdirTemp("", "seglog-suites-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if err := module(ctx, "github.com/segmentio/kafka-go@v0.4.51", dir); err != nil {
			return err
		}
		// Its helper panics in these, on any broker, and ends the process.
		const panics = "-skip=TestReaderConsumerGroup/(verify_offset_committed|verify_offset_committed_when_using_interval_committer|consumer_group_commits_on_close)$"
		// nettest is what its own CI leaves out.
		return goTest(ctx, dir, []string{"KAFKA_SKIP_NETTEST=1", "KAFKA_VERSION=4.4.0"}, only, tell, panics)
	},
}
