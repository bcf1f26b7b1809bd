package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// appender makes records of the lines in chunks of input.
type appender struct {
	log      *log.Log
	batch    batch
	synced   bool          // each batch is made durable
	linger   time.Duration // a batch waits for more at most
	ack      io.Writer     // nil: not told
	progress *progress

	in       lines
	lines    int64 // that are in the batch or before it
	read     int64 // bytes
	appended int64 // records
	first    int64 // offset
	last     int64 // offset
}

// run appends until the input or ctx ends, and then what has been read.
func (a *appender) run(ctx context.Context, in *chunks) error {
	due := time.NewTimer(a.linger)
	due.Stop()
	waiting := int64(-1) // the first line of the batch that due is set for
	for {
		select {
		case <-ctx.Done():
			if err := errors.Join(a.drain(in), a.flush()); err != nil {
				return err
			}
			return context.Cause(ctx)
		case <-due.C:
			if err := a.flush(); err != nil {
				return err
			}
		case chunk, ok := <-in.full:
			if !ok {
				return errors.Join(a.finish(), in.err)
			}
			if err := a.take(chunk); err != nil {
				return err
			}
			in.giveBack(chunk)
			if n := len(a.batch.records); n == 0 {
				due.Stop()
				waiting = -1
			} else if first := a.lines - int64(n); first != waiting {
				due.Reset(a.linger)
				waiting = first
			}
		}
	}
}

// drain takes what was read ahead: nobody else can read it again.
func (a *appender) drain(in *chunks) error {
	for {
		select {
		case chunk, ok := <-in.full:
			if !ok {
				return nil
			}
			if err := a.take(chunk); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// finish is the end of the input.
func (a *appender) finish() error {
	if err := a.split(a.in.finish(a.line)); err != nil {
		return err
	}
	return a.flush()
}

func (a *appender) take(chunk []byte) error {
	a.read += int64(len(chunk))
	a.progress.set(a.read)
	return a.split(a.in.take(chunk, a.line))
}

// split appends what came before a line that is too long.
func (a *appender) split(err error) error {
	var long longLine
	if errors.As(err, &long) {
		return errors.Join(a.flush(), a.tooLong(long.bytes))
	}
	return err
}

func (a *appender) line(line []byte) error {
	if !a.batch.fits(line) {
		if err := a.flush(); err != nil {
			return err
		}
	}
	a.batch.add(line)
	a.lines++
	if a.batch.full() {
		return a.flush()
	}
	return nil
}

// flush appends the batch, if there is something in it.
func (a *appender) flush() error {
	n := int64(len(a.batch.records))
	if n == 0 {
		return nil
	}
	size := len(a.batch.memory)
	first, err := a.log.Append(a.batch.records...)
	a.batch.clear()
	if err != nil {
		a.lines -= n
		if errors.Is(err, record.ErrTooLarge) && n == 1 {
			return a.tooLong(size)
		}
		return fmt.Errorf("line %d and what follows is not appended: %w", a.lines+1, err)
	}
	if a.appended == 0 {
		a.first = first
	}
	a.appended, a.last = a.appended+n, first+n-1
	if a.synced {
		// Not under the command's context: what was read is to be durable
		// although a signal came.
		if err := a.log.Sync(context.Background()); err != nil {
			return fmt.Errorf("appended up to line %d, which may not survive a loss of power: %w", a.lines, err)
		}
	}
	if a.ack == nil {
		return nil
	}
	if _, err := a.ack.Write(append(strconv.AppendInt(nil, a.last, 10), '\n')); err != nil {
		// Not wrapped: the input is not all appended, so that nobody reads the
		// output is no quiet end.
		return fmt.Errorf("stopped behind offset %d, as the acknowledgement cannot be written: %v", a.last, err)
	}
	return nil
}

// tooLong refuses the line after those that were taken.
func (a *appender) tooLong(n int) error {
	return fmt.Errorf("line %d has %s or more, but a record has to fit %s with its overhead; the lines before it are appended: split it or raise --segment-bytes",
		a.lines+1, formatSize(int64(n)), formatSize(int64(a.in.most)))
}
