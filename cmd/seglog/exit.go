package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// The exit codes, beside 128 + n for a signal.
const (
	exitOK    = 0
	exitFault = 1
	exitUsage = 2
)

// usageError is a fault of how the command was called.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// runError is a fault met while a command ran. What comes from cobra instead
// is about flags and arguments.
type runError struct{ error }

func (e runError) Unwrap() error { return e.error }

// runs marks the errors of f as those of a run.
func runs(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := f(cmd, args)
		var usage usageError
		if err == nil || errors.As(err, &usage) {
			return err
		}
		return runError{err}
	}
}

// report says err in one line, with how to call the command where it was called
// wrongly, and returns the exit code.
func report(stderr io.Writer, useLine string, err error) int {
	var run runError
	var stopped interrupted
	switch {
	case err == nil || brokenPipe(err):
		return exitOK // who read our output has had enough
	case errors.As(err, &stopped):
		fmt.Fprintf(stderr, "seglog: %v\n", stopped)
		return stopped.code()
	case errors.As(err, &run):
		line, code := advice(run.error)
		fmt.Fprintf(stderr, "seglog: %s\n", oneLine(line))
		return code
	}
	hint := ""
	if !errors.As(err, new(usageError)) {
		hint = "; usage: " + useLine
	}
	fmt.Fprintf(stderr, "seglog: %s%s\n", oneLine(err.Error()), hint)
	return exitUsage
}

// advice turns an error of the engine into what to do about it.
func advice(err error) (line string, code int) {
	var locked *vfs.LockedError
	var offset *log.OffsetError
	var damage *log.DamageError
	switch {
	case errors.As(err, &locked) && locked.PID != 0:
		return fmt.Sprintf("process %d is writing to this log (it holds %s); stop it first", locked.PID, locked.Path), exitFault
	case errors.Is(err, log.ErrTrimmed) && errors.As(err, &offset):
		return fmt.Sprintf("offset %d has been dropped; the log holds [%d, %d): choose one from there", offset.Offset, offset.First, offset.End), exitUsage
	case errors.Is(err, log.ErrBeyond) && errors.As(err, &offset):
		return fmt.Sprintf("offset %d is beyond the end; the log holds [%d, %d): choose one from there", offset.Offset, offset.First, offset.End), exitUsage
	case errors.As(err, &damage):
		return fmt.Sprintf("%s; seglog verify lists every fault, seglog repair makes the log one to append to", whereDamaged(damage)), exitFault
	case errors.Is(err, record.ErrUnsupportedMagic):
		return fmt.Sprintf("%v; copy the records with a Kafka client since 0.11, which writes them anew", err), exitFault
	case vfs.IsFull(err):
		return fmt.Sprintf("%v; make room and try again", err), exitFault
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("%v; run as a user who may", err), exitFault
	case errors.Is(err, context.Canceled):
		return "stopped", exitFault
	}
	return err.Error(), exitFault
}

// whereDamaged says where, in the form compilers use for errors, and what.
func whereDamaged(d *log.DamageError) string {
	return fmt.Sprintf("%s:%d: offset %d: %v", d.Path, d.Position, d.Offset, d.Err)
}

// oneLine joins the lines of an error joined from several.
func oneLine(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "; ") }
