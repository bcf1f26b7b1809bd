//go:build unix

package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seglog/seglog/internal/child"
)

// Build builds the program of the module whose folder is root, as a file in dir, and
// returns its path.
func Build(ctx context.Context, root, dir string) (program string, err error) {
	if program, err = filepath.Abs(filepath.Join(dir, "seglog")); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/seglog")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building seglog in %s: %w\n%s", root, err, out)
	}
	return program, nil
}

// Node is a broker on loopback, a process of its own. It can be stopped or killed and
// started again where it was. Its methods are for one goroutine at a time.
type Node struct {
	// Program is what Build made.
	Program string
	// Data is its directory.
	Data string
	// Listen is its --listen; "" is a port that is free at the first start, and kept.
	Listen string
	// Settings are KEY=VALUE, and Flags further ones of seglog serve.
	Settings, Flags []string
	// Log is the file in which it says what happens, behind what is there; "" is where
	// this process does.
	Log string

	process *child.Process
}

const (
	startTime = 30 * time.Second
	stopTime  = time.Minute
)

// errEnded is what a node that ends while it starts is.
var errEnded = errors.New("seglog serve ended while starting")

// Start starts it and waits until it serves, 30 seconds at the most.
func (n *Node) Start(ctx context.Context) error {
	if n.Running() {
		return errors.New("seglog serve is running")
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for again := n.Listen != ""; ; {
		err := n.start(ctx)
		if !again || !errors.Is(err, errEnded) {
			return err
		}
		// A client that tried to connect where nobody listens may have been given
		// that very port for its own end, and has it until it notices.
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (n *Node) start(ctx context.Context) error {
	listen := n.Listen
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	args := append([]string{"serve", "--data", n.Data, "--listen", listen}, n.Flags...)
	for _, s := range n.Settings {
		args = append(args, "--set", s)
	}
	cmd := exec.Command(n.Program, args...)
	if cmd.Stderr = os.Stderr; n.Log != "" {
		log, err := os.OpenFile(n.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer log.Close()
		cmd.Stderr = log
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdout = w
	p, err := child.Start(cmd)
	if err = errors.Join(err, w.Close()); err != nil {
		return errors.Join(err, r.Close())
	}
	addr := make(chan string, 1)
	go listenTo(r, addr)
	select {
	case at, ok := <-addr:
		if !ok {
			return fmt.Errorf("%w: %v%s", errEnded, p.Stop(stopTime), n.seeLog())
		}
		n.Listen, n.process = at, p
		return nil
	case <-ctx.Done():
		p.Kill()
		return fmt.Errorf("seglog serve did not start: %w%s", ctx.Err(), n.seeLog())
	}
}

// listenTo tells where the process serves as it says so, and reads what else it says
// until it ends.
func listenTo(r io.ReadCloser, addr chan<- string) {
	defer r.Close()
	defer close(addr)
	for lines, told := bufio.NewScanner(r), false; lines.Scan(); {
		if fields := strings.Fields(lines.Text()); !told && len(fields) > 0 && fields[0] == "serving" {
			addr <- fields[len(fields)-1]
			told = true
		}
	}
}

// Addr is where it listens, once it was started.
func (n *Node) Addr() string { return n.Listen }

// Running is whether it was started and neither stopped nor killed since.
func (n *Node) Running() bool { return n.process != nil }

// PID is its process; it is running.
func (n *Node) PID() int { return n.process.PID() }

// Stop ends it as an operator does, and waits. It has to end well. One that does not
// run has nothing to do for it.
func (n *Node) Stop() error {
	if !n.Running() {
		return nil
	}
	p := n.process
	n.process = nil
	if err := p.Stop(stopTime); err != nil {
		return fmt.Errorf("seglog serve does not end well: %w%s", err, n.seeLog())
	}
	return nil
}

// Kill is kill -9, and waits until it is gone.
func (n *Node) Kill() {
	if n.Running() {
		n.process.Kill()
		n.process = nil
	}
}

func (n *Node) seeLog() string {
	if n.Log == "" {
		return ""
	}
	return ", see " + n.Log
}
