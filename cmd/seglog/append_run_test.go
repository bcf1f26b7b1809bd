package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/seglog/seglog/log"
)

func newTestAppender(t *testing.T, o log.Options, b batch) (*appender, *bytes.Buffer) {
	t.Helper()
	l, err := log.Open(context.Background(), t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	acks := new(bytes.Buffer)
	return &appender{log: l, batch: b, in: lines{delimiter: []byte{'\n'}, most: 1 << 20}, linger: time.Hour, ack: acks}, acks
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// With --sync always a batch is durable when it is acknowledged.
func TestSyncAlways(t *testing.T) {
	a, _ := newTestAppender(t, log.Options{}, newBatch(nil, 2, 1<<20))
	a.synced = true
	acks := 0
	a.ack = writerFunc(func(p []byte) (int, error) {
		acks++
		if durable := a.log.Durable(); durable != a.last+1 {
			t.Errorf("offset %d is acknowledged, durable is what is below %d", a.last, durable)
		}
		return len(p), nil
	})
	if err := a.run(context.Background(), newChunks(strings.NewReader("1\n2\n3\n"))); err != nil {
		t.Fatal(err)
	}
	if acks != 2 {
		t.Errorf("%d batches acknowledged, want 2", acks)
	}
}

// A batch holds as many lines as fit its bytes, the later ones like the first.
func TestBatchBytes(t *testing.T) {
	const count, fit = 100, 9
	a, acks := newTestAppender(t, log.Options{}, newBatch(nil, 1000, 10_000))
	line := strings.Repeat("x", 1000) + "\n"
	if err := a.run(context.Background(), newChunks(strings.NewReader(strings.Repeat(line, count)))); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Count(acks.String(), "\n"), (count+fit-1)/fit; got != want {
		t.Errorf("%d batches, want %d", got, want)
	}
	if a.log.End() != count {
		t.Errorf("%d records, want %d", a.log.End(), count)
	}
}

// zeros is an input without a newline and without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A line without end is refused when it is too long, not when memory is out;
// what is before it is appended.
func TestEndlessLine(t *testing.T) {
	a, _ := newTestAppender(t, log.Options{}, newBatch(nil, 1000, 1<<20))
	err := a.run(context.Background(), newChunks(io.MultiReader(strings.NewReader("before\n"), io.LimitReader(zeros{}, 100<<20))))
	if err == nil || !strings.HasPrefix(err.Error(), "line 2 has ") {
		t.Errorf("error %v, want one that names line 2", err)
	}
	if a.log.End() != 1 || a.read > 2*int64(a.in.most) {
		t.Errorf("%d records appended, %d bytes taken in", a.log.End(), a.read)
	}
}
