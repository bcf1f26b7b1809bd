package differential

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/seglog/seglog/internal/apache"
	"github.com/seglog/seglog/internal/serve"
)

// settings are given to both brokers, under Kafka's names.
var settings = []string{
	"node.id=1",
	"num.partitions=1",
	"offsets.topic.num.partitions=8",
	"offsets.topic.replication.factor=1",
	"group.initial.rebalance.delay.ms=0",
	"log.retention.ms=-1",
	"log.segment.delete.delay.ms=1000",
	"log.index.size.max.bytes=65536",
}

// kafkaOnly keeps Kafka small, and its controller from waiting for more to write.
var kafkaOnly = []string{
	"controller.quorum.append.linger.ms=0",
	"num.network.threads=2",
	"num.io.threads=2",
}

// kafkaHeap is what Kafka needs for so little.
var kafkaHeap = []string{"-Xms128m", "-Xmx512m", "-XX:+UseSerialGC"}

// node is a broker that runs.
type node interface {
	Addr() string
	Stop() error
}

// startKafka starts Kafka with all that it keeps in dir.
func startKafka(ctx context.Context, kafka apache.Kafka, dir string) (node, error) {
	n := &apache.Node{Kafka: kafka, Dir: dir, Settings: slices.Concat(settings, kafkaOnly), Heap: kafkaHeap}
	return n, n.Start(ctx)
}

// startSeglog builds the module in root and starts its broker with its data in dir.
func startSeglog(ctx context.Context, root, dir string) (node, error) {
	program, err := serve.Build(ctx, root, dir)
	if err != nil {
		return nil, err
	}
	n := &serve.Node{Program: program, Data: filepath.Join(dir, "data"), Settings: settings}
	return n, n.Start(ctx)
}
