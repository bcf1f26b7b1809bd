package peers

import (
	"bytes"
	"encoding/binary"
	"os"
	"time"

	"go.etcd.io/bbolt"
)

var bucket = []byte("log")

type boltLog struct {
	*bbolt.DB

	batched bool
}

func openBolt(dir string, s Setting) (Log, error) { return openBoltDB(dir, s.Durable, s.Writers) }

func openBoltDB(dir string, durable bool, writers int) (*boltLog, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	db, err := bbolt.Open(inside(dir), 0o644, &bbolt.Options{
		NoSync: !durable, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, InitialMmapSize: 2 << 30, NoStatistics: true,
	})
	if err != nil {
		return nil, err
	}
	// Batch shares a sync between writers. It waits until so many have come, or
	// for so long.
	db.MaxBatchSize, db.MaxBatchDelay = writers, time.Millisecond
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
	return &boltLog{DB: db, batched: durable && writers > 1}, err
}

func (l *boltLog) Appender(values [][]byte) func() error {
	put := func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucket)
		b.FillPercent = 1 // keys ascend
		for _, value := range values {
			n, err := b.NextSequence()
			if err != nil {
				return err
			}
			if err := b.Put(key(n-1), value); err != nil {
				return err
			}
		}
		return nil
	}
	if l.batched {
		return func() error { return l.Batch(put) }
	}
	return func() error { return l.Update(put) }
}

func (l *boltLog) Scan(each func([]byte)) error {
	return l.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).ForEach(func(_, value []byte) error {
			each(value)
			return nil
		})
	})
}

func (l *boltLog) Get(i int64) (value []byte, err error) {
	err = l.View(func(tx *bbolt.Tx) error {
		value = bytes.Clone(tx.Bucket(bucket).Get(key(uint64(i))))
		return nil
	})
	return value, err
}

func key(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
