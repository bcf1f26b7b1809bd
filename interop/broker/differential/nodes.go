package differential

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seglog/seglog/internal/apache"
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

// startKafka starts Kafka with all that it keeps in dir.
func startKafka(ctx context.Context, kafka apache.Kafka, dir string) (addr string, stop func() error, err error) {
	n := &apache.Node{Kafka: kafka, Dir: dir, Settings: slices.Concat(settings, kafkaOnly), Heap: kafkaHeap}
	if err := n.Start(ctx); err != nil {
		return "", nil, err
	}
	return n.Addr(), n.Stop, nil
}

// startSeglog builds "seglog serve" of the module in root and starts it with its
// data in dir. It has to end well.
func startSeglog(ctx context.Context, root, dir string) (addr string, stop func() error, err error) {
	program := filepath.Join(dir, "seglog")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/seglog")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("building seglog: %w\n%s", err, out)
	}
	args := []string{"serve", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0"}
	for _, s := range settings {
		args = append(args, "--set", s)
	}
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() error {
		late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		return errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait())
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", nil, errors.Join(err, stop())
	}
	fields := strings.Fields(line)
	return fields[len(fields)-1], stop, nil
}
