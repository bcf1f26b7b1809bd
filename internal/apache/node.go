//go:build unix

package apache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seglog/seglog/internal/child"
)

// Node is a broker that is its own controller, on loopback, a process of its own. It
// can be stopped or killed and started again where it was. Its methods are for one
// goroutine at a time.
type Node struct {
	Kafka
	// Dir is where it keeps everything: server.properties, broker.log, and its log
	// directory, data.
	Dir string
	// Settings are KEY=VALUE, and win over what it is given otherwise.
	Settings []string
	// Port is the one it listens on, and the next one its controller's; 0 is two that
	// are free at the first start.
	Port int
	// Heap are the flags of its JVM; none means 1 GiB and G1, as Kafka's own script
	// has them.
	Heap []string

	process *child.Process
	from    int64 // where in broker.log it begins
}

const (
	startTime = 3 * time.Minute
	stopTime  = time.Minute
	cluster   = "c2VnbG9nIGFuZCBLYWZrYQ" // 16 bytes in base64
)

// Addr is where it listens, once it was started.
func (n *Node) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(n.Port)) }

// Data is its log directory: a directory TOPIC-N for each partition.
func (n *Node) Data() string { return filepath.Join(n.Dir, "data") }

// Running is whether it was started and neither stopped nor killed since.
func (n *Node) Running() bool { return n.process != nil }

// PID is its process; it is running.
func (n *Node) PID() int { return n.process.PID() }

// started is what Kafka says when it has. It listens before; a SIGTERM in between
// ends it without a clean stop.
const started = "Kafka Server started"

// Start starts it and waits until it has started, three minutes at the most.
func (n *Node) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := n.Launch(ctx); err != nil {
		return err
	}
	for !n.hasSaid(started) {
		select {
		case <-n.process.Ended():
			n.Kill()
			return fmt.Errorf("Kafka ended while starting: %s", n.said("broker.log"))
		case <-ctx.Done():
			n.Kill()
			return fmt.Errorf("Kafka did not start: %w: %s", ctx.Err(), n.said("broker.log"))
		case <-time.After(2 * time.Millisecond):
		}
	}
	return nil
}

// Launch starts it and does not wait.
func (n *Node) Launch(ctx context.Context) error {
	if n.Running() {
		return errors.New("Kafka is running")
	}
	if err := n.format(ctx); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(n.Dir, "broker.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	heap := n.Heap
	if len(heap) == 0 {
		heap = []string{"-Xms1g", "-Xmx1g", "-XX:+UseG1GC"}
	}
	if n.from, err = log.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	cmd := exec.Command("java", append(n.java(heap, "kafka.Kafka"), n.properties())...)
	cmd.Stdout, cmd.Stderr = log, log
	n.process, err = child.Start(cmd)
	return err
}

// Stop ends it as an operator does, and waits. One that does not run has nothing
// to do for it.
func (n *Node) Stop() error {
	if !n.Running() {
		return nil
	}
	_ = n.process.Stop(stopTime) // by the signal, as a rule: Kafka's note says more
	n.process = nil
	if _, err := os.Stat(filepath.Join(n.Data(), ".kafka_cleanshutdown")); err != nil {
		return fmt.Errorf("Kafka was not stopped cleanly: %w: %s", err, n.said("broker.log"))
	}
	return nil
}

// Kill is kill -9, and waits until it is gone.
func (n *Node) Kill() {
	if !n.Running() {
		return
	}
	n.process.Kill()
	n.process = nil
}

func (n *Node) properties() string { return filepath.Join(n.Dir, "server.properties") }

// format writes what it is to be, and makes its log directory where there is none.
func (n *Node) format(ctx context.Context) (err error) {
	if n.Dir, err = filepath.Abs(n.Dir); err != nil {
		return err
	}
	if n.Port == 0 {
		if n.Port, err = freePorts(); err != nil {
			return err
		}
	}
	controller := net.JoinHostPort("127.0.0.1", strconv.Itoa(n.Port+1))
	lines := append([]string{
		"process.roles=broker,controller",
		"node.id=1",
		"controller.quorum.voters=1@" + controller,
		"listeners=PLAINTEXT://" + n.Addr() + ",CONTROLLER://" + controller,
		"advertised.listeners=PLAINTEXT://" + n.Addr(),
		"controller.listener.names=CONTROLLER",
		"listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"log.dirs=" + n.Data(),
		"offsets.topic.replication.factor=1",
		"offsets.topic.num.partitions=8",
		"transaction.state.log.replication.factor=1",
		"transaction.state.log.min.isr=1",
		"transaction.state.log.num.partitions=8",
		"share.coordinator.state.topic.replication.factor=1",
		"share.coordinator.state.topic.min.isr=1",
		"group.initial.rebalance.delay.ms=0",
	}, n.Settings...)
	if err := os.MkdirAll(n.Dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(n.properties(), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(n.Data(), "meta.properties")); err == nil {
		return nil
	}
	out, err := n.Command(ctx, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", n.properties()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("formatting %s: %w: %s", n.Data(), err, out)
	}
	return nil
}

// hasSaid is whether text is in what the running process has said.
func (n *Node) hasSaid(text string) bool {
	log, err := os.Open(filepath.Join(n.Dir, "broker.log"))
	if err != nil {
		return false
	}
	defer log.Close()
	all, err := io.ReadAll(io.NewSectionReader(log, n.from, math.MaxInt64-n.from))
	return err == nil && strings.Contains(string(all), text)
}

// said is the end of a file of its directory.
func (n *Node) said(name string) string {
	text, err := os.ReadFile(filepath.Join(n.Dir, name))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-3000):])
}
