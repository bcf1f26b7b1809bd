package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/seglog/seglog/internal/apache"
	"github.com/seglog/seglog/internal/serve"
)

const (
	ours   = "seglog"
	theirs = "Kafka"
)

// node is one broker, a process of its own on loopback.
type node struct {
	name string
	dir  string // of its data
	process
	launch func(ctx context.Context) error // need not wait until it has started: see start

	topics int // made so far
}

type process interface {
	Addr() string
	PID() int
	Stop() error // nothing if it does not run
}

// settings are what both are started with beside their defaults. Files of topics
// that are gone are removed soon, so that the runs fit the disk.
var settings = []string{"auto.create.topics.enable=false", "log.segment.delete.delay.ms=1000"}

// patience bounds everything that is waited for of a broker.
const patience = 5 * time.Minute

// startAll starts seglog and, where it is there, Kafka.
func startAll(ctx context.Context, dir string, more []string) ([]*node, error) {
	program, err := serve.Build(ctx, filepath.Join("..", ".."), dir)
	if err != nil {
		return nil, err
	}
	nodes := []*node{seglogNode(program, filepath.Join(dir, "seglog-data"), more)}
	if kafka, err := apache.Install(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "SEGLOG IS MEASURED ALONE:", err)
	} else {
		nodes = append(nodes, kafkaNode(kafka, filepath.Join(dir, "kafka")))
	}
	for i, n := range nodes {
		if err := n.start(ctx); err != nil {
			return nodes[:i], fmt.Errorf("%s: %w", n.name, err)
		}
	}
	return nodes, nil
}

func (n *node) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := n.launch(ctx); err != nil {
		return err
	}
	return await(ctx, 2*time.Millisecond, func() error {
		nc, err := net.Dial("tcp", n.Addr())
		if err == nil {
			_ = nc.Close()
		}
		return err
	})
}

// await tries again and again until it goes well or ctx ends.
func await(ctx context.Context, every time.Duration, try func() error) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-ticker.C:
		}
	}
}

func seglogNode(program, dir string, more []string) *node {
	n := &serve.Node{Program: program, Data: dir, Settings: settings, Flags: more}
	return &node{name: ours, dir: dir, process: n, launch: n.Start}
}

// kafkaNode is Kafka with its defaults, the heap of its own script among them.
func kafkaNode(kafka apache.Kafka, dir string) *node {
	n := &apache.Node{Kafka: kafka, Dir: dir, Settings: settings}
	return &node{name: theirs, dir: n.Data(), process: n, launch: n.Launch}
}
