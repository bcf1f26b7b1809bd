package peers

import (
	"os"

	"github.com/joncrlsn/dque"
)

// item is what dque encodes with gob.
type item struct{ Value []byte }

func newItem() any { return &item{} }

type dqueLog struct {
	*dque.DQue

	dir     string
	s       Setting
	perFile int
}

func openDque(dir string, s Setting) (Log, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	// It counts items, and keeps those of the newest and the oldest file in memory.
	perFile := 10_000
	if s.SegmentBytes != 0 {
		perFile = s.SegmentBytes / 150
	}
	q, err := dque.NewOrOpen("log", dir, perFile, newItem)
	if err == nil && !s.Durable {
		err = q.TurboOn()
	}
	return &dqueLog{DQue: q, dir: dir, s: s, perFile: perFile}, err
}

func (l *dqueLog) Appender(values [][]byte) func() error {
	items := make([]item, len(values))
	for i, value := range values {
		items[i].Value = value
	}
	return func() error {
		for i := range items { // it has no batches
			if err := l.Enqueue(&items[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// Scan cannot be: reading takes out.
func (l *dqueLog) Scan(func([]byte)) error { panic("dque is not to be read without taking out") }

// Count opens the queue again, which reads the files.
func (l *dqueLog) Count() (int64, error) {
	if err := l.DQue.Close(); err != nil {
		return 0, err
	}
	again, err := openDque(l.dir, l.s)
	if err != nil {
		return 0, err
	}
	l.DQue = again.(*dqueLog).DQue
	return int64(l.Size()), nil
}
