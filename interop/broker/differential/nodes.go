package differential

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
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

// scriptEnv names the script that runs Kafka, in place of ../shared/kafka/kafka
// beside the checkout.
const scriptEnv = "SEGLOG_KAFKA"

// findKafka is where the script is, or what is missing.
func findKafka(root string) (string, error) {
	script := os.Getenv(scriptEnv)
	if script == "" {
		script = filepath.Join(root, "..", "shared", "kafka", "kafka")
	}
	if _, err := os.Stat(script); err != nil {
		return "", fmt.Errorf("%w (%s may name the script)", err, scriptEnv)
	}
	for _, tool := range []string{"bash", "java", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", fmt.Errorf("it needs a JDK of 17 or later and Maven: %w", err)
		}
	}
	return script, nil
}

// startKafka starts Kafka with its data in dir. It is killed when this process
// ends without having called stop.
func startKafka(ctx context.Context, script, dir string) (addr string, stop func() error, err error) {
	port, err := freePorts()
	if err != nil {
		return "", nil, err
	}
	pid := filepath.Join(dir, "broker.pid")
	leash := exec.Command("sh", "-c", `read _; if [ -e "$0" ]; then kill -9 "$(cat "$0")"; fi`, pid)
	in, err := leash.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	if err := leash.Start(); err != nil {
		return "", nil, err
	}
	command := func(ctx context.Context, args ...string) error {
		cmd := exec.CommandContext(ctx, script, args...)
		cmd.Env = append(os.Environ(), "KAFKA_JUDGE_JVM=-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1",
			"KAFKA_JUDGE_BROKER_JVM=-Xms128m -Xmx512m -XX:+UseSerialGC")
		cmd.WaitDelay = 5 * time.Second
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("kafka %s: %w\n%s", args[0], err, out)
		}
		return nil
	}
	stop = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		err := command(ctx, "stop", dir)
		return errors.Join(err, in.Close(), leash.Wait())
	}
	args := append([]string{"start", dir, strconv.Itoa(port)}, settings...)
	if err := command(ctx, append(args, kafkaOnly...)...); err != nil {
		return "", nil, errors.Join(err, in.Close(), leash.Wait())
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), stop, nil
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

// freePorts finds a port of which the next one is free, too: Kafka's controller
// listens there.
func freePorts() (int, error) {
	for range 50 {
		first, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		port := first.Addr().(*net.TCPAddr).Port
		second, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+1)))
		_ = first.Close()
		if err == nil {
			return port, second.Close()
		}
	}
	return 0, errors.New("no two free ports in a row")
}
