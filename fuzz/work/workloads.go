package work

import (
	"math/rand/v2"
	"time"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention"
	"github.com/seglog/seglog/retention/compact"
)

// workload is what is done to a log.
type workload struct {
	keyed   bool // records have keys, and the log is compacted
	options func(r *rand.Rand) log.Options
	run     func(d *Subject) error
}

var workloads = map[string]*workload{
	// One batch after the other, durable each.
	"append": {
		options: func(*rand.Rand) log.Options { return log.Options{} },
		run: func(d *Subject) error {
			w := d.writer(0)
			for {
				if err := w.append(always, 3000); err != nil {
					return err
				}
				if w.r.IntN(60) == 0 {
					if err := d.reopen(); err != nil {
						return err
					}
				}
			}
		},
	},
	// Several at a time share syncs; a batch may be larger than what is stored
	// through the mapping, and segments fill.
	"group": {
		options: func(r *rand.Rand) log.Options {
			return log.Options{SegmentBytes: 1 << 20, Compression: record.Codec(r.IntN(5))}
		},
		run: func(d *Subject) error {
			return d.together(4, func(w *writer) error {
				size := 2000
				if w.r.IntN(10) == 0 {
					size = 100 << 10
				}
				return w.append(always, size)
			})
		},
	},
	// Small segments, of which syncs cover several; what is not durable yet is
	// between what is.
	"rolls": {
		options: func(*rand.Rand) log.Options { return log.Options{SegmentBytes: 16 << 10, IndexInterval: 256} },
		run: func(d *Subject) error {
			return d.together(3, func(w *writer) error {
				switch w.r.IntN(40) {
				case 0:
					return d.sync(d.l.Sync)
				case 1:
					return d.sync(d.l.Checkpoint)
				}
				return w.append(w.r.IntN(6) == 0, 1500)
			})
		},
	},
	// The front goes, by hand and by size.
	"retention": {
		options: func(*rand.Rand) log.Options {
			return log.Options{SegmentBytes: 32 << 10, Retention: retention.MaxBytes(400 << 10)}
		},
		run: func(d *Subject) error {
			return d.together(2, func(w *writer) error {
				if w.number > 0 || w.r.IntN(25) > 0 {
					return w.append(w.r.IntN(3) == 0, 3000)
				}
				if w.r.IntN(2) == 0 {
					return d.dropBefore(d.l.First() + w.r.Int64N(1+(d.l.End()-d.l.First())/4))
				}
				return d.retain()
			})
		},
	},
	// The end goes, and other records take its place.
	"truncate": {
		options: func(*rand.Rand) log.Options { return log.Options{SegmentBytes: 32 << 10} },
		run: func(d *Subject) error {
			w := d.writer(0)
			for {
				var err error
				switch w.r.IntN(30) {
				case 0, 1:
					err = d.dropFrom(max(d.l.First(), d.l.End()-w.r.Int64N(120)))
				case 2:
					err = d.reopen()
				default:
					err = w.append(w.r.IntN(3) == 0, 2000)
				}
				if err != nil {
					return err
				}
			}
		},
	},
	// Of each key the newest stays.
	"compact": {
		keyed: true,
		options: func(r *rand.Rand) log.Options {
			return log.Options{SegmentBytes: 32 << 10, Compression: record.Codec(r.IntN(5)),
				Compaction: &compact.Options{MapBytes: []int64{0, 4 << 10}[r.IntN(2)]}}
		},
		run: func(d *Subject) error {
			return d.together(3, func(w *writer) error {
				if w.number > 0 {
					return w.append(w.r.IntN(3) == 0, 1500)
				}
				time.Sleep(time.Duration(w.r.IntN(100)) * time.Millisecond)
				return d.compact()
			})
		},
	},
}

// always is for an append that is to be durable.
const always = true
