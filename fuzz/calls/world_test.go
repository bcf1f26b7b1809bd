package calls

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// top is the directory of a broker, and dir the partition's in it.
const (
	top = "data"
	dir = top + "/topic-0"
)

var ctx = context.Background()

// noon is when it is, in every world.
var noon = time.UnixMilli(1_700_000_000_000).UTC()

// world is a file system and what is open on it.
type world struct {
	mem  *vfs.Mem
	fs   *vfs.Faulty
	opts log.Options
	log  *log.Log
	man  *log.Manager
	mopt log.ManagerOptions
	held []func() // gives back what an operation borrowed

	appended int64         // End before the operation
	told     *told         // of an operation that reports to the Logger
	ended    chan struct{} // takes something when that has done what it is for
	beside   *world        // of the process that writes what this one reads
}

// newWorld is one on a copy of what is stored in m.
func newWorld(m *vfs.Mem, o log.Options) *world {
	w := &world{mem: m.Fork(), opts: o}
	w.fs = vfs.NewFaulty(w.mem)
	w.opts.Env = log.Env{FS: w.fs, Now: func() time.Time { return noon }}
	w.mopt = log.ManagerOptions{Log: w.opts, Parallel: 1}
	return w
}

// trace tells f of each call, one after the other: segments are verified side by
// side.
func (w *world) trace(f func(vfs.Call)) {
	var mu sync.Mutex
	w.fs.Trace = func(c vfs.Call) {
		mu.Lock()
		defer mu.Unlock()
		f(c)
	}
}

func (w *world) open() (err error) {
	w.log, err = log.Open(ctx, dir, w.opts)
	return err
}

func (w *world) openManager() (err error) {
	w.man, err = log.OpenManager(ctx, top, w.mopt)
	return err
}

// close closes what is open.
func (w *world) close() error {
	for _, f := range w.held {
		f()
	}
	w.held = nil
	l, m := w.log, w.man
	w.log, w.man = nil, nil
	switch {
	case m != nil:
		return m.Close()
	case l != nil:
		return l.Close()
	}
	return nil
}

// small are options whose segments take a handful of records, with a mapping
// for one sealed segment.
func small() log.Options {
	return log.Options{SegmentBytes: 1 << 10, IndexInterval: 100, MappedSegments: 1}
}

// rec is a record of about 100 bytes whose time goes with n.
func rec(key string, n int) record.Record {
	return record.Record{Key: []byte(key), Value: fmt.Appendf(nil, "%-80d", n), Time: noon.Add(time.Duration(n-1000) * time.Second)}
}

// encode makes a batch.
func encode(o record.BatchOptions, records ...record.Record) []byte {
	var b record.Builder
	b.Reset(o)
	for i := range records {
		must(b.Add(&records[i]))
	}
	raw, err := b.Build()
	must(err)
	return raw
}

// send appends a producer's batch of one record.
func send(l *log.Log, id int64, sequence int32, transactional bool, r record.Record) (log.Appended, error) {
	return l.AppendBatch(encode(record.BatchOptions{LeaderEpoch: -1, Transactional: transactional,
		Producer: &record.Producer{ID: id, Sequence: sequence}}, r), log.FromClient)
}

// must is for what cannot fail before a fault is injected.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("without a fault: %v", err))
	}
}

func must1[T any](x T, err error) T {
	must(err)
	return x
}
