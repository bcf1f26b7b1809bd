package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// broker is a "seglog serve", which can be killed and started again where it was.
type broker struct {
	program, dir, addr string
	set                []string
	cmd                *exec.Cmd
	log                *os.File
}

func build(ctx context.Context, dir string) (string, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "seglog")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/seglog")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building seglog in %s: %w\n%s", root, err, out)
	}
	return program, nil
}

func newBroker(program, dir string) (*broker, error) {
	b := &broker{program: program, dir: dir, addr: "127.0.0.1:0",
		set: []string{"group.initial.rebalance.delay.ms=0", "num.partitions=3", "offsets.topic.num.partitions=4"}}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var err error
	if b.log, err = os.Create(filepath.Join(dir, "log")); err != nil {
		return nil, err
	}
	return b, b.start()
}

func (b *broker) start() error {
	args := []string{"serve", "--data", filepath.Join(b.dir, "data"), "--listen", b.addr}
	for _, s := range b.set {
		args = append(args, "--set", s)
	}
	for deadline := time.Now().Add(30 * time.Second); ; {
		cmd := exec.Command(b.program, args...)
		cmd.Stderr = b.log
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err == nil {
			fields := strings.Fields(line)
			b.cmd, b.addr = cmd, fields[len(fields)-1]
			return nil
		}
		// A client that tried to connect where nobody listens may have been
		// given that very port for its own end, and has it until it notices.
		if err := cmd.Wait(); time.Now().After(deadline) {
			return fmt.Errorf("seglog serve: %w, see %s", err, b.log.Name())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// kill is kill -9.
func (b *broker) kill() {
	_ = b.cmd.Process.Kill()
	_ = b.cmd.Wait()
}

// stop ends it; what it has to say against that is an error.
func (b *broker) stop() error {
	defer b.log.Close()
	_ = b.cmd.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(time.Minute, func() { _ = b.cmd.Process.Kill() })
	defer late.Stop()
	if err := b.cmd.Wait(); err != nil {
		return fmt.Errorf("seglog serve does not end well: %w, see %s", err, b.log.Name())
	}
	return nil
}
