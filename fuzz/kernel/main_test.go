//go:build unix

package kernel

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// ctx is never done.
var ctx = context.Background()

// roleEnv names what a process started by a test does instead of testing.
const roleEnv = "SEGLOG_KERNEL_ROLE"

// roles are what this binary does when a test starts it, with the arguments of
// the command line.
var roles = map[string]func(args []string) error{
	"work":    work1,
	"read":    readAlong,
	"compete": compete,
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		if err := roles[role](os.Args[1:]); err != nil {
			say("! %v", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// say writes a line, at once and whole.
func say(format string, args ...any) {
	_, _ = os.Stdout.WriteString(strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", `\n`) + "\n")
}

// child is a process that was started in a role.
type child struct {
	cmd   *exec.Cmd
	lines chan string // what it says; closed at its end
}

func start(t *testing.T, role string, args ...string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0], args...), lines: make(chan string, 64)}
	c.cmd.Env = append(os.Environ(), roleEnv+"="+role)
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.cmd.Start())
	go func() {
		defer close(c.lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return // what follows the last newline was not said
			}
			c.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	t.Cleanup(func() { c.kill(); c.wait() })
	return c
}

// kill is kill -9.
func (c *child) kill() { _ = c.cmd.Process.Kill() }

// wait waits for the end of a child whose lines are read, or nobody wants them.
func (c *child) wait() {
	for range c.lines { // until it is gone
	}
	_ = c.cmd.Wait()
}
