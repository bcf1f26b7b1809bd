package fuzz

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/model"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention"
)

const dir = "topic-0"

// ctx is never done.
var ctx = context.Background()

// fataler is what testing.T and rapid.T have in common.
type fataler interface {
	require.TestingT
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// machine runs the same operations on a log in memory and on its model, and
// compares.
type machine struct {
	t     fataler
	c     choices
	mem   *vfs.Mem
	fs    *vfs.Faulty
	opts  log.Options
	l     *log.Log
	m     *model.Log
	now   time.Time
	floor int64 // of the retention policy
	sent  int   // records made, which numbers their values
	did   []string

	// crash, if set, is called before each call to the file system.
	crash func()
}

func newMachine(t fataler, c choices) *machine {
	x := &machine{t: t, c: c, mem: vfs.NewMem(), m: &model.Log{}, now: time.UnixMilli(1_700_000_000_000)}
	x.opts = log.Options{
		SegmentBytes:   int64([]int{256, 700, 4 << 10, 20 << 10}[c.pick("segment bytes", 4)]),
		SegmentAge:     []time.Duration{0, time.Minute}[c.pick("segment age", 2)],
		IndexInterval:  []int64{0, 1, 100, 4096}[c.pick("index interval", 4)],
		Compression:    record.Codec(c.pick("codec", 5)),
		TimestampType:  record.TimestampType(c.pick("timestamp type", 2)),
		MappedSegments: []int{0, 1}[c.pick("mapped segments", 2)],
		Retention:      retention.Floor(func() int64 { return x.floor }),
		Env:            log.Env{Now: func() time.Time { return x.now }},
	}
	x.did = append(x.did, fmt.Sprintf("options %+v", x.opts))
	x.open()
	return x
}

// run takes steps until there are no more, and closes.
func (x *machine) run() {
	for x.c.more() {
		x.step()
		x.watermarks()
	}
	x.everything()
	x.reopen()
	x.everything()
	require.NoError(x.t, x.l.Close())
}

func (x *machine) note(format string, args ...any) {
	x.did = append(x.did, fmt.Sprintf(format, args...))
}

// failf ends the test with the operations that led there.
func (x *machine) failf(format string, args ...any) {
	x.t.Fatalf("%s\nafter:\n  %s", fmt.Sprintf(format, args...), strings.Join(x.did, "\n  "))
}

func (x *machine) must(err error, what string) {
	if err != nil {
		x.failf("%s: %v", what, err)
	}
}

func (x *machine) step() {
	x.now = x.now.Add(time.Duration(x.c.pick("clock", 40)-10) * 7 * time.Second) // back now and then
	steps := []struct {
		weight int
		do     func()
	}{
		{30, x.append},
		{12, x.appendSync},
		{4, x.fromLeader},
		{3, x.roll},
		{6, func() { x.must(x.sync(), "Sync") }},
		{2, func() { x.must(x.l.Checkpoint(ctx), "Checkpoint"); x.synced() }},
		{6, x.dropBefore},
		{6, x.dropFrom},
		{1, x.dropAll},
		{4, x.retain},
		{12, x.readOne},
		{3, x.tail},
		{6, x.borrow},
		{6, x.offsetAt},
		{3, x.everything},
		{3, x.reopen},
		{3, x.kill},
		{6, x.powerCut},
		{6, x.crashInside},
		{3, x.writeback},
	}
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	at := x.c.pick("step", total)
	for _, s := range steps {
		if at -= s.weight; at < 0 {
			s.do()
			return
		}
	}
}

func (x *machine) bases() (bases []int64) {
	for _, s := range x.l.Segments() {
		bases = append(bases, s.Base)
	}
	return bases
}

// sizes tells base, end and size of each segment.
func (x *machine) sizes() string {
	var b strings.Builder
	for _, s := range x.l.Segments() {
		fmt.Fprintf(&b, "[%d,%d):%d ", s.Base, s.Next, s.Bytes)
	}
	return b.String()
}

func (x *machine) same(got, want []record.Record) {
	for i := range min(len(got), len(want)) {
		if g, w := fmt.Sprintf("%#v", got[i]), fmt.Sprintf("%#v", want[i]); g != w {
			x.failf("record %d of %d is\n  %s\nwant\n  %s", i, len(want), g, w)
		}
	}
	if len(got) != len(want) {
		x.failf("%d records, want %d", len(got), len(want))
	}
}

// watermarks compares what takes no reading. What the log calls durable it is
// held to from now on.
func (x *machine) watermarks() {
	first, durable, end := x.l.First(), x.l.Durable(), x.l.End()
	if first != x.m.First || end != x.m.End {
		x.failf("the log is [%d, %d), want [%d, %d)", first, end, x.m.First, x.m.End)
	}
	if durable > end || durable < first {
		x.failf("durable is %d in a log [%d, %d)", durable, first, end)
	}
	x.m.Durable = max(x.m.Durable, durable)
}

// synced is called after what makes everything durable.
func (x *machine) synced() {
	x.m.Sync()
	if d := x.l.Durable(); d != x.m.End {
		x.failf("durable is %d after a sync, want %d", d, x.m.End)
	}
}

// everything reads all there is.
func (x *machine) everything() {
	x.watermarks()
	var got []record.Record
	for r, err := range x.l.From(x.m.First) {
		x.must(err, "From")
		got = append(got, r)
	}
	x.same(got, x.m.Records(x.m.First))

	infos, next := x.l.Segments(), int64(-1)
	var bytes int64
	for _, s := range infos {
		if s.Base <= next-1 || s.Next < s.Base {
			x.failf("segment [%d, %d) behind one that ends at %d", s.Base, s.Next, next)
		}
		next, bytes = s.Next, bytes+s.Bytes
	}
	if s := x.l.Stats(); s.Segments != len(infos) || s.Bytes != bytes || s.End != x.m.End || s.Pins != 0 {
		x.failf("Stats are %+v of segments %+v", s, infos)
	}
}

// open opens the log on the present file system.
func (x *machine) open() {
	x.fs = vfs.NewFaulty(x.mem)
	x.fs.Trace = func(vfs.Call) {
		if x.crash != nil {
			x.crash()
		}
	}
	x.opts.Env.FS = x.fs
	l, err := log.Open(ctx, dir, x.opts)
	x.must(err, "Open")
	x.l = l
	if r := l.Recovery(); len(r.Actions) > 0 {
		x.note("recovery: %v", r.Actions)
	}
}

func (x *machine) reopen() {
	x.note("close and open")
	x.must(x.l.Close(), "Close")
	x.open()
	x.synced()
	if r := x.l.Recovery(); !r.Clean {
		x.failf("a log that was closed opens with %v, %d batches scanned, note %q, checkpoint %+v", r.Actions, r.ScannedBatches, r.Note, r.Checkpoint)
	}
	x.everything()
}
