package peers

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"
)

type badgerLog struct {
	*badger.DB

	next atomic.Uint64
}

func openBadger(dir string, s Setting) (Log, error) {
	o := badger.DefaultOptions(inside(dir)).WithSyncWrites(s.Durable).WithLogger(nil).WithDetectConflicts(false).
		WithMetricsEnabled(false).WithNumVersionsToKeep(1).WithMemTableSize(64 << 20)
	db, err := badger.Open(o)
	if err != nil {
		return nil, err
	}
	l := &badgerLog{DB: db}
	err = db.View(func(tx *badger.Txn) error {
		it := tx.NewIterator(badger.IteratorOptions{Reverse: true})
		defer it.Close()
		if it.Rewind(); it.Valid() {
			l.next.Store(binary.BigEndian.Uint64(it.Item().Key()) + 1)
		}
		return nil
	})
	return l, err
}

func (l *badgerLog) Appender(values [][]byte) func() error {
	return func() error {
		first := l.next.Add(uint64(len(values))) - uint64(len(values))
		return l.Update(func(tx *badger.Txn) error {
			for i, value := range values {
				if err := tx.Set(key(first+uint64(i)), value); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func (l *badgerLog) Scan(each func([]byte)) error {
	return l.View(func(tx *badger.Txn) error {
		it := tx.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			err := it.Item().Value(func(value []byte) error {
				each(value)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *badgerLog) Get(i int64) (value []byte, err error) {
	err = l.View(func(tx *badger.Txn) error {
		item, err := tx.Get(key(uint64(i)))
		if err == nil {
			value, err = item.ValueCopy(nil)
		}
		return err
	})
	return value, err
}
