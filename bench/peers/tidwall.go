package peers

import (
	"sync"

	"github.com/tidwall/wal"
)

type tidwallLog struct {
	*wal.Log

	mu   sync.Mutex
	next uint64
}

// openTidwall opens with room for cached segments in memory. Segments are of
// 20 MiB, as it has them, unless others are asked for: each is read whole when
// one of its records is.
func openTidwall(dir string, s Setting, cached int) (Log, error) {
	o := *wal.DefaultOptions
	o.NoSync, o.NoCopy, o.SegmentCacheSize = !s.Durable, true, cached
	if s.SegmentBytes != 0 {
		o.SegmentSize = s.SegmentBytes
	}
	w, err := wal.Open(inside(dir), &o)
	if err != nil {
		return nil, err
	}
	last, err := w.LastIndex()
	return &tidwallLog{Log: w, next: last + 1}, err
}

func (l *tidwallLog) Appender(values [][]byte) func() error {
	var batch wal.Batch
	return func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(values) == 1 {
			if err := l.Write(l.next, values[0]); err != nil {
				return err
			}
		} else {
			for i, value := range values {
				batch.Write(l.next+uint64(i), value)
			}
			if err := l.WriteBatch(&batch); err != nil {
				return err
			}
		}
		l.next += uint64(len(values))
		return nil
	}
}

func (l *tidwallLog) Scan(each func([]byte)) error {
	for i := uint64(1); i < l.next; i++ {
		value, err := l.Read(i)
		if err != nil {
			return err
		}
		each(value)
	}
	return nil
}

func (l *tidwallLog) Get(i int64) ([]byte, error) { return l.Read(uint64(i + 1)) }
