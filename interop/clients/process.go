package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// unable is the status of a program that cannot do what it was asked.
const unable = 3

// tell runs a program until it ends, and calls line with each line of its
// standard output. When ctx ends it is asked to by end, and that it then does,
// in whatever way, is no error; it is killed if it has not a minute later.
func tell(ctx context.Context, cmd *exec.Cmd, in io.Reader, end func(*exec.Cmd) error, line func(string) error) error {
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = in, &stderr
	// A pipe of ours, as one of the command's is closed at its end with what is in it.
	out, to := io.Pipe()
	cmd.Stdout = to
	if err := cmd.Start(); err != nil {
		return err
	}
	told := make(chan error, 1)
	go func() {
		lines := bufio.NewScanner(out)
		var err error
		for lines.Scan() {
			if err == nil {
				err = line(lines.Text())
			}
		}
		told <- errors.Join(err, lines.Err())
	}()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	asked := false
	select {
	case err = <-ended:
	case <-ctx.Done():
		asked = true
		_ = end(cmd)
		select {
		case err = <-ended:
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			err = fmt.Errorf("%s does not end: %w", cmd.Args[0], <-ended)
			asked = false
		}
	}
	to.Close()
	wrong := <-told
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		switch {
		case exit.ExitCode() == unable:
			return errUnable
		case asked && (!exit.Exited() || exit.ExitCode() > 128):
			err = nil // by the signal
		default:
			err = fmt.Errorf("%w: %s", err, tail(stderr.String()))
		}
	}
	return errors.Join(err, wrong)
}

// tail is the end of what a program said.
func tail(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 1500 {
		s = "..." + s[len(s)-1500:]
	}
	return s
}

func terminate(cmd *exec.Cmd) error { return cmd.Process.Signal(syscall.SIGTERM) }

func terse(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// recordLine reads "PARTITION OFFSET VALUE".
func recordLine(got func(record)) func(string) error {
	return func(line string) error {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return fmt.Errorf("%q is not a record's line", line)
		}
		partition, err := strconv.ParseInt(fields[0], 10, 32)
		offset, err2 := strconv.ParseInt(fields[1], 10, 64)
		got(record{int32(partition), offset, number([]byte(fields[2]))})
		return errors.Join(err, err2)
	}
}
