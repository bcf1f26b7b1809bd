package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/segment"
)

// verifyAtATime is how many partitions are checked at a time. What one check
// waits for is memory, so more would not be faster by much.
const verifyAtATime = 2

// dirVerifier checks the partitions of a log directory.
type dirVerifier struct {
	check  check
	dir    string
	stdout io.Writer
	shown  *progress

	mu struct {
		sync.Mutex
		done   map[string]int64 // bytes, by partition
		faults int64
		bad    int
	}
}

func verifyDir(ctx context.Context, check check, dir string, names []kafkadir.Name, stdout, stderr io.Writer) error {
	v := &dirVerifier{check: check, dir: dir, stdout: stdout}
	v.mu.done = make(map[string]int64)
	var total int64
	for _, n := range names {
		total += logBytes(filepath.Join(dir, n.String()))
	}
	v.shown = newProgress(stderr, "verifying", bytesOf, total)
	// Reports are printed in the order of names, whichever is done first.
	reports := make([]chan []byte, len(names))
	slots := make(chan struct{}, verifyAtATime)
	for i, n := range names {
		reports[i] = make(chan []byte, 1)
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			reports[i] <- v.partition(ctx, n.String())
		}()
	}
	var err error
	for _, r := range reports {
		if _, writeErr := stdout.Write(<-r); err == nil {
			err = writeErr
		}
	}
	v.shown.end()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case v.mu.bad > 0:
		return fmt.Errorf("%s in %s of %d in %s; a copy or a replica may have what they should hold",
			plural(v.mu.faults, "fault"), plural(int64(v.mu.bad), "partition"), len(names), dir)
	}
	_, err = fmt.Fprintf(stdout, "ok: %s, %s\n", plural(int64(len(names)), "partition"), formatSize(total))
	return err
}

// partition checks one and returns what to print.
func (v *dirVerifier) partition(ctx context.Context, name string) []byte {
	if ctx.Err() != nil {
		return nil
	}
	dir := filepath.Join(v.dir, name)
	var out bytes.Buffer
	found, err := v.check(ctx, dir, log.Options{}, func(done, _ int64) { v.progress(name, done) })
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		if _, gone := os.Stat(dir); errors.Is(gone, fs.ErrNotExist) {
			return nil // deleted meanwhile
		}
		v.bad(1)
		fmt.Fprintf(&out, "%s: %s\n", name, redOn(v.stdout)(oneLine("cannot be checked: "+err.Error())))
		return out.Bytes()
	}
	v.bad(len(found.Faults))
	var lines strings.Builder
	if err := writeVerificationTo(&lines, found, redOn(v.stdout)); err != nil {
		return nil // a Builder has no errors
	}
	for line := range strings.Lines(lines.String()) {
		out.WriteString(name + ": " + line)
	}
	return out.Bytes()
}

func (v *dirVerifier) bad(faults int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.mu.faults += int64(faults)
	if faults > 0 {
		v.mu.bad++
	}
}

// progress adds up what is done of all.
func (v *dirVerifier) progress(name string, done int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.mu.done[name] = done
	var all int64
	for _, n := range v.mu.done {
		all += n
	}
	v.shown.set(all)
}

// logBytes is the size of a partition's .log files, as far as they are there.
func logBytes(dir string) (n int64) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if _, suffix, ok := segment.ParseName(e.Name()); ok && suffix == segment.LogSuffix {
			if info, err := e.Info(); err == nil {
				n += info.Size()
			}
		}
	}
	return n
}
