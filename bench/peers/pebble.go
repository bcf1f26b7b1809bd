package peers

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

type pebbleLog struct {
	*pebble.DB

	write *pebble.WriteOptions
	next  atomic.Uint64
}

func openPebble(dir string, s Setting) (Log, error) {
	return openPebbleDB(dir, s.Durable)
}

func openPebbleDB(dir string, durable bool) (*pebbleLog, error) {
	db, err := pebble.Open(inside(dir), &pebble.Options{MemTableSize: 64 << 20, Logger: quietPebble{}})
	if err != nil {
		return nil, err
	}
	l := &pebbleLog{DB: db, write: pebble.NoSync}
	if durable {
		l.write = pebble.Sync
	}
	last, err := db.NewIter(nil)
	if err != nil {
		return nil, err
	}
	if last.Last() {
		l.next.Store(binary.BigEndian.Uint64(last.Key()) + 1)
	}
	return l, last.Close()
}

func (l *pebbleLog) Appender(values [][]byte) func() error {
	return func() error {
		batch := l.NewBatch()
		defer batch.Close()
		first := l.next.Add(uint64(len(values))) - uint64(len(values))
		var key [8]byte
		for i, value := range values {
			binary.BigEndian.PutUint64(key[:], first+uint64(i))
			if err := batch.Set(key[:], value, nil); err != nil {
				return err
			}
		}
		return batch.Commit(l.write)
	}
}

func (l *pebbleLog) Scan(each func([]byte)) error {
	it, err := l.NewIter(nil)
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		each(it.Value())
	}
	return it.Close()
}

func (l *pebbleLog) Get(i int64) ([]byte, error) {
	var key [8]byte
	binary.BigEndian.PutUint64(key[:], uint64(i))
	value, closer, err := l.DB.Get(key[:])
	if err != nil {
		return nil, err
	}
	value = bytes.Clone(value)
	return value, closer.Close()
}

type quietPebble struct{}

func (quietPebble) Infof(string, ...any)           {}
func (quietPebble) Errorf(string, ...any)          {}
func (quietPebble) Fatalf(format string, a ...any) { panic(format) }
