package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/seglog/seglog/internal/apache"
)

const (
	ours   = "seglog"
	theirs = "Kafka"
)

// node is one broker, a process of its own on loopback.
type node struct {
	name string
	dir  string // of its data
	addr string
	pid  int

	launch func(ctx context.Context, n *node) error // sets pid and addr
	end    func(n *node) error

	topics int // made so far
}

// settings are what both are started with beside their defaults. Files of topics
// that are gone are removed soon, so that the runs fit the disk.
var settings = []string{"auto.create.topics.enable=false", "log.segment.delete.delay.ms=1000"}

// patience bounds everything that is waited for of a broker.
const patience = 5 * time.Minute

// startAll starts seglog and, where it is there, Kafka.
func startAll(ctx context.Context, dir string, more []string) ([]*node, error) {
	program := filepath.Join(dir, "seglog-program")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/seglog")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	nodes := []*node{seglogNode(program, filepath.Join(dir, "seglog"), more)}
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
	if err := n.launch(ctx, n); err != nil {
		return err
	}
	return await(ctx, 2*time.Millisecond, func() error {
		nc, err := net.Dial("tcp", n.addr)
		if err == nil {
			_ = nc.Close()
		}
		return err
	})
}

func (n *node) stop() error {
	if n.pid == 0 {
		return nil
	}
	err := n.end(n)
	n.pid = 0
	return err
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
	var cmd *exec.Cmd
	return &node{name: ours, dir: dir,
		launch: func(_ context.Context, n *node) error {
			args := append([]string{"serve", "--data", dir, "--listen", "127.0.0.1:0"}, more...)
			for _, s := range settings {
				args = append(args, "--set", s)
			}
			cmd = exec.Command(program, args...)
			cmd.Stderr = os.Stderr
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ^C is ours to tell it
			out, err := cmd.StdoutPipe()
			if err != nil {
				return err
			}
			if err := cmd.Start(); err != nil {
				return err
			}
			n.pid = cmd.Process.Pid
			for lines := bufio.NewScanner(out); lines.Scan(); {
				if fields := strings.Fields(lines.Text()); fields[0] == "serving" {
					n.addr = fields[len(fields)-1]
					return nil
				}
			}
			return errors.Join(errors.New("it ended while starting"), cmd.Wait())
		},
		end: func(*node) error {
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				return err
			}
			return cmd.Wait()
		},
	}
}

// kafkaNode is Kafka with its defaults, the heap of its own script among them.
func kafkaNode(kafka apache.Kafka, dir string) *node {
	k := &apache.Node{Kafka: kafka, Dir: dir, Settings: settings}
	return &node{name: theirs, dir: k.Data(),
		launch: func(ctx context.Context, n *node) error {
			if err := k.Launch(ctx); err != nil {
				return err
			}
			n.addr, n.pid = k.Addr(), k.PID()
			return nil
		},
		end: func(*node) error { return k.Stop() },
	}
}
