package peers

import (
	"bytes"
	"context"
	"path/filepath"
	"time"
)

// An Engine is a peer.
type Engine struct {
	Name string
	Open func(dir string, s Setting) (Log, error)
	// Lends says that what Scan hands out is the engine's memory.
	Lends bool
	// Codec is how the engine compresses what is appended, "" if it does not.
	Codec string
	// LosesOnKill says that of what was appended without Durable some is lost when
	// the process is killed.
	LosesOnKill bool
	// NoDurable says that Durable cannot be had.
	NoDurable bool
	// Consumes says that what is read is gone, so that nothing can be read again.
	Consumes bool
	// NoReopen says that a log that is there cannot be opened again.
	NoReopen bool
	// zero tells by its methods what else the log can do.
	zero Log
}

// Setting is how an engine is opened.
type Setting struct {
	Durable      bool // an append returns when it survives a loss of power
	Writers      int  // that append at the same time, 0 is one
	Compressed   bool
	SegmentBytes int // 0 is 64 MiB
}

// A Log is an open engine. Reading and closing are done by one goroutine while
// nobody appends.
type Log interface {
	// Appender makes values ready to be appended, as one if the engine can. Any
	// number of goroutines may call what it returns, each time to append them.
	Appender(values [][]byte) func() error
	// Scan reads all there is, in order.
	Scan(each func(value []byte)) error
	Close() error
}

// A Getter reads the i-th record.
type Getter interface {
	Get(i int64) ([]byte, error)
}

// A Timed log finds records by time.
type Timed interface {
	AppendAt(t time.Time, value []byte) error
	// At is the number of the first record of t or later.
	At(t time.Time) (int64, error)
}

// A Tailer wakes a reader; ready is closed when it waits for the first record.
type Tailer interface {
	Tail(ctx context.Context, ready chan<- struct{}, each func(value []byte)) error
}

// A Counter counts records otherwise than by Scan.
type Counter interface {
	Count() (int64, error)
}

// Engines are the peers as logs.
var Engines = []Engine{
	{Name: "raft-wal", zero: (*raftLog)(nil), Open: openRaftWAL},
	{Name: "raft-boltdb", zero: (*raftLog)(nil), Open: openRaftBolt},
	{Name: "tidwall", zero: (*tidwallLog)(nil), Open: func(dir string, s Setting) (Log, error) { return openTidwall(dir, s, 2) }, Lends: true},
	{Name: "tidwall-cached", zero: (*tidwallLog)(nil), Open: func(dir string, s Setting) (Log, error) { return openTidwall(dir, s, 1<<20) }, Lends: true},
	{Name: "pebble", zero: (*pebbleLog)(nil), Open: openPebble, Lends: true, LosesOnKill: true},
	{Name: "bbolt", zero: (*boltLog)(nil), Open: openBolt, Lends: true},
	{Name: "badger", zero: (*badgerLog)(nil), Open: openBadger, Lends: true},
	{Name: "nats-store", zero: (*natsStore)(nil), Open: func(dir string, s Setting) (Log, error) { return openNATSStore(dir, s, false) }, Codec: "s2", NoReopen: true},
	{Name: "nats-store-async", zero: (*natsStore)(nil), Open: func(dir string, s Setting) (Log, error) { return openNATSStore(dir, s, true) }, LosesOnKill: true, NoDurable: true, NoReopen: true, Codec: "s2"},
	{Name: "jetstream", zero: (*jetStreamLog)(nil), Open: openJetStream, Codec: "s2"},
	{Name: "prometheus", zero: (*wlogLog)(nil), Open: openWlog, Lends: true, Codec: "snappy"},
	{Name: "etcd", zero: (*etcdLog)(nil), Open: openEtcd, Lends: true},
	{Name: "dque", zero: (*dqueLog)(nil), Open: openDque, Consumes: true},
}

// count counts the records of l by reading them.
func count(l Log) (records, size int64, err error) {
	err = l.Scan(func(value []byte) {
		records++
		size += int64(len(value))
	})
	return records, size, err
}

// held counts the records of l.
func held(l Log) (int64, error) {
	if c, ok := l.(Counter); ok {
		return c.Count()
	}
	records, _, err := count(l)
	return records, err
}

// fill appends total values of size bytes, n at a time.
func fill(l Log, total int, values [][]byte) error {
	appendAll := l.Appender(values)
	for range total / len(values) {
		if err := appendAll(); err != nil {
			return err
		}
	}
	return nil
}

// own is each for an engine that lends, but with memory that is the caller's.
func own(lends bool, each func([]byte)) func([]byte) {
	if !lends {
		return each
	}
	return func(value []byte) { each(bytes.Clone(value)) }
}

func (s Setting) segmentBytes() int {
	if s.SegmentBytes == 0 {
		return 64 << 20
	}
	return s.SegmentBytes
}

// inside is a name in dir, for engines that want a directory that is not there.
func inside(dir string) string { return filepath.Join(dir, "log") }
