package peers

import (
	"errors"

	"github.com/prometheus/prometheus/tsdb/wlog"
	"github.com/prometheus/prometheus/util/compression"
)

// wlogLog is Prometheus's log. Log and Sync are two calls: a durable append is both.
type wlogLog struct {
	*wlog.WL

	dir     string
	durable bool
}

// openWlog opens as Prometheus does after a crash: it reads all there is and, if
// something is torn, repairs it, before it appends.
func openWlog(dir string, s Setting) (Log, error) {
	dir = inside(dir)
	codec := compression.None
	if s.Compressed {
		codec = compression.Snappy
	}
	w, err := wlog.NewSize(nil, nil, dir, s.segmentBytes(), codec)
	if err != nil {
		return nil, err
	}
	l := &wlogLog{WL: w, dir: dir, durable: s.Durable}
	if err := l.Scan(func([]byte) {}); err != nil {
		if err := w.Repair(err); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *wlogLog) Appender(values [][]byte) func() error {
	if !l.durable {
		return func() error { return l.Log(values...) }
	}
	return func() error {
		if err := l.Log(values...); err != nil {
			return err
		}
		return l.Sync()
	}
}

func (l *wlogLog) Scan(each func([]byte)) error {
	segments, err := wlog.NewSegmentsReader(l.dir)
	if err != nil {
		return err
	}
	r := wlog.NewReader(segments)
	for r.Next() {
		each(r.Record())
	}
	return errors.Join(r.Err(), segments.Close())
}
