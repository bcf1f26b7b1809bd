package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

var rewrite = flag.Bool("rewrite", false, "write what the commands print into the scripts' golden files")

// leaks fails if the tests leave goroutines behind, but for the one that may be
// blocked in reading the input: see newChunks.
type leaks struct{ m *testing.M }

func (l leaks) Run() int {
	code := l.m.Run()
	if err := goleak.Find(goleak.IgnoreAnyFunction("github.com/seglog/seglog/cmd/seglog.(*chunks).read")); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else each seglog stays for a second
	testscript.Main(leaks{m}, map[string]func(){"seglog": func() { os.Exit(run(os.Args[1:])) }})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *rewrite,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"flip":     flip,
			"fieldlog": fieldlog,
			"gappy":    gappy,
			"exits":    exits,
			"logdir":   logdir,
			"serve":    serveScript,
			"timed":    timed,

			"producers": producers,
			"epochs":    epochs,
		},
	})
}

// exits CODE COMMAND... runs a command that has to end with that exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if status, ok := err.(interface{ ExitCode() int }); ok {
		got = status.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// flip FILE POSITION turns all bits of one byte.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	position, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR, 0)
	ts.Check(err)
	defer f.Close()
	var b [1]byte
	_, err = f.ReadAt(b[:], position)
	ts.Check(err)
	b[0] ^= 0xff
	_, err = f.WriteAt(b[:], position)
	ts.Check(err)
}

// fieldlog DIR writes the log that lookups are explained by everywhere:
// segments based at 0 and at 368796, whose index has every second batch.
func fieldlog(ts *testscript.TestScript, _ bool, args []string) {
	const second, end = 368796, 368811
	at := func(offset int64) time.Time {
		return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC).Add(time.Duration(offset) * time.Millisecond)
	}
	one := func(offset int64) record.Record {
		return record.Record{Time: at(offset), Value: []byte("message " + strconv.FormatInt(offset, 10))}
	}
	// A record's batch has 82 bytes, so of those alone in their batch every
	// second one starts more than 100 bytes behind the last that is indexed.
	build := func(o log.Options, from, to, batch int64) {
		l, err := log.Open(context.Background(), ts.MkAbs(args[0]), o)
		ts.Check(err)
		for offset := from; offset < to; offset += batch {
			var records []record.Record
			for i := offset; i < min(offset+batch, to); i++ {
				records = append(records, one(i))
			}
			_, err := l.Append(records...)
			ts.Check(err)
		}
		ts.Check(l.Close())
	}
	build(log.Options{}, 0, second, 1000)
	build(log.Options{SegmentBytes: 1 << 16, IndexInterval: 100}, second, end, 1)
}

// gappy DIR writes a log like a compacted one: records at offsets 0, 10, 20, 30
// and 40, each in a batch as a leader sends it.
func gappy(ts *testscript.TestScript, _ bool, args []string) {
	l, err := log.Open(context.Background(), ts.MkAbs(args[0]), log.Options{})
	ts.Check(err)
	var b record.Builder
	for offset := int64(0); offset <= 40; offset += 10 {
		b.Reset(record.BatchOptions{BaseOffset: offset})
		r := record.Record{Value: []byte("at " + strconv.FormatInt(offset, 10)), Time: time.UnixMilli(1_769_860_800_000 + offset)}
		ts.Check(b.Add(&r))
		raw, err := b.Build()
		ts.Check(err)
		_, err = l.AppendBatch(raw, log.FromLeader)
		ts.Check(err)
	}
	ts.Check(l.Close())
}
