//go:build !windows

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is a seglog that runs while the test goes on.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Scanner
	stderr bytes.Buffer
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command("seglog", args...)}
	p.cmd.Stderr = &p.stderr
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	hang := time.AfterFunc(2*time.Minute, func() { _ = p.cmd.Process.Kill() })
	t.Cleanup(func() { hang.Stop() })
	return p
}

func (p *process) write(lines string) {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, lines); err != nil {
		p.t.Fatal(err)
	}
}

// line is the next line the process prints.
func (p *process) line() string {
	p.t.Helper()
	if !p.stdout.Scan() {
		p.t.Fatalf("%v ended without the line waited for; stderr: %s", p.cmd.Args, &p.stderr)
	}
	return p.stdout.Text()
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// exit waits for the end and returns the exit code, -1 for a signal.
func (p *process) exit() int {
	for p.stdout.Scan() {
	}
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

func seglog(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("seglog", args...).Output()
	if err != nil {
		t.Fatalf("seglog %v: %v", args, err)
	}
	return string(out)
}

// A reader that follows sees each line while the appender goes on, though the
// batch is far from full, and across segments.
func TestFollowBesideAppender(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	appender := start(t, "append", dir, "--ack", "--linger", "5ms", "--segment-bytes", "300")
	appender.write("line 0\n")
	appender.line()
	follower := start(t, "read", dir, "--follow")
	for i := range 20 {
		if i > 0 {
			appender.write(fmt.Sprintf("line %d\n", i))
		}
		if got, want := follower.line(), fmt.Sprintf("line %d", i); got != want {
			t.Fatalf("followed %q, want %q", got, want)
		}
	}
	follower.signal(os.Interrupt)
	if code := follower.exit(); code != 0 || follower.stderr.Len() > 0 {
		t.Errorf("read --follow ended by %d, stderr %q; want 0 and nothing", code, &follower.stderr)
	}

	other := start(t, "append", dir)
	if code := other.exit(); code != 1 || !strings.Contains(other.stderr.String(), fmt.Sprintf("process %d is writing", appender.cmd.Process.Pid)) {
		t.Errorf("a second appender ended by %d: %s", code, &other.stderr)
	}
}

// A signal ends an appender when what it has read is appended; a line that has
// not ended is none.
func TestAppendStopped(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	p := start(t, "append", dir, "--ack", "--batch", "2", "--linger", "1h")
	p.write("one\ntwo\nthree\nhalf a li")
	p.line()                           // of the first two
	time.Sleep(200 * time.Millisecond) // for the rest to be read
	p.signal(syscall.SIGTERM)
	if code, want := p.exit(), 128+int(syscall.SIGTERM); code != want {
		t.Errorf("exit code %d, want %d; stderr: %s", code, want, &p.stderr)
	}
	if got := seglog(t, "read", dir); got != "one\ntwo\nthree\n" {
		t.Errorf("the log has %q", got)
	}
	if info := seglog(t, "info", dir); !strings.Contains(info, "closed cleanly") {
		t.Errorf("not closed cleanly:\n%s", info)
	}
}

// What was acknowledged before a kill -9 is there, in order and without a gap,
// and the log takes more.
func TestAppendKilled(t *testing.T) {
	for _, sync := range []string{"none", "interval", "always"} {
		t.Run(sync, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			p := start(t, "append", dir, "--ack", "--batch", "7", "--sync", sync, "--segment-bytes", "4KiB")
			go func() {
				var lines []byte
				for i := range 1_000_000 {
					if lines = append(strconv.AppendInt(lines, int64(i), 10), '\n'); len(lines) > 4096 || i%1000 == 0 {
						if _, err := p.stdin.Write(lines); err != nil {
							return // killed
						}
						lines = lines[:0]
					}
				}
			}()
			acked := ""
			for range 300 {
				acked = p.line()
			}
			p.signal(os.Kill)
			for p.stdout.Scan() {
				acked = p.stdout.Text()
			}
			if code := p.exit(); code != -1 {
				t.Fatalf("exit code %d of a killed process", code)
			}
			last, err := strconv.Atoi(acked)
			if err != nil {
				t.Fatal(err)
			}
			checkNumbers(t, seglog(t, "read", dir), last+1)
			more := exec.Command("seglog", "append", dir, "-q")
			more.Stdin = strings.NewReader("more\n")
			if out, err := more.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if got := seglog(t, "read", dir, "--last", "1"); got != "more\n" {
				t.Errorf("appended after the kill: %q", got)
			}
			seglog(t, "verify", dir)
		})
	}
}

// checkNumbers wants the lines 0, 1, 2 and so on, at least atLeast of them.
func checkNumbers(t *testing.T, out string, atLeast int) {
	t.Helper()
	n := 0
	for line := range strings.Lines(out) {
		if line != strconv.Itoa(n)+"\n" {
			t.Fatalf("line %d is %q", n, line)
		}
		n++
	}
	if n < atLeast {
		t.Errorf("%d records were acknowledged, %d are there", atLeast, n)
	}
}
