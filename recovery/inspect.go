package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// Options are choices about damage.
type Options struct {
	// Repair lets the report contain actions that lose damaged records: what is
	// bad is cut out and kept aside, and the rest opens.
	Repair bool
	// Progress, if not nil, is told of bytes that were verified since it was told
	// last, every few MiB, by the goroutine that looks.
	Progress func(bytes int64)
}

// Inspect looks at a log's directory, which exists, and writes nothing. After a
// clean close it reads names, sizes and the checkpoint; otherwise it verifies
// all batches beyond the recovery point.
//
// The error is one that stops the look itself: the directory or a file cannot
// be read, ctx is done, or the log is in a message format before Kafka 0.11
// (record.ErrUnsupportedMagic). Damage is in the report.
func Inspect(ctx context.Context, cfg *segment.Config, o Options) (*Report, error) {
	began := time.Now()
	r := &Report{Dir: cfg.Dir}
	checkpoint, err := ReadCheckpoint(cfg.FS, cfg.Dir)
	switch {
	case err == nil:
		r.Checkpoint = checkpoint
	case errors.Is(err, fs.ErrNotExist):
		r.Foreign, checkpoint = true, &Checkpoint{}
	case errors.Is(err, record.ErrCorrupt):
		r.Foreign, checkpoint = true, &Checkpoint{}
		r.Note = "the checkpoint is not believed: " + err.Error()
	default:
		// That it cannot be read now, for want of descriptors say, does not
		// make it absent: the log start is in it.
		return nil, err
	}
	if err := inspect(ctx, cfg, o, checkpoint, r); err != nil {
		return nil, err
	}
	if r.Foreign || !r.contradicted() {
		r.Took = time.Since(began)
		return r, nil
	}
	var note string
	cleaned, err := kafkaOffset(cfg.FS, cfg.Dir, kafkadir.CleanerFile, &note)
	if err != nil {
		return nil, err
	}
	if cleaned > checkpoint.CleanedNoted {
		r = &Report{Dir: cfg.Dir, Foreign: true,
			Note: fmt.Sprintf("the checkpoint is not believed: another program has compacted the log since, up to offset %d", cleaned)}
		if err := inspect(ctx, cfg, o, &Checkpoint{LogStart: checkpoint.LogStart}, r); err != nil {
			return nil, err
		}
	}
	r.Took = time.Since(began)
	return r, nil
}

// contradicted says that the files are not as the checkpoint has them: then a
// broker that the directory was given to may have compacted them.
func (r *Report) contradicted() bool {
	return len(r.Damage) > 0 || slices.ContainsFunc(r.Actions, func(a Action) bool { return a.Kind == SetAside })
}

func inspect(ctx context.Context, cfg *segment.Config, o Options, checkpoint *Checkpoint, r *Report) error {
	files, err := leftovers(ctx, cfg, r)
	if err != nil {
		return err
	}
	in := inspector{ctx: ctx, cfg: cfg, files: files, checkpoint: checkpoint, repair: o.Repair, tell: o.Progress, r: r}
	in.running = !checkpoint.Clean && checkpoint.Boot != "" && checkpoint.Boot == cfg.FS.Boot(cfg.Dir)
	r.Running = in.running
	if r.Foreign {
		if in.flushed, err = kafkaOffset(cfg.FS, cfg.Dir, kafkadir.RecoveryPointFile, &r.Note); err != nil {
			return err
		}
		if r.Cleaned, err = kafkaOffset(cfg.FS, cfg.Dir, kafkadir.CleanerFile, &r.Note); err != nil {
			return err
		}
	}
	in.known, in.newestKnown = make(map[int64]segment.Facts, len(checkpoint.Segments)), -1
	for _, f := range checkpoint.Segments {
		in.known[f.Base] = f
		in.newestKnown = f.Base
		in.durableEnd = max(in.durableEnd, f.Next)
	}
	if err := in.segments(); err != nil {
		return err
	}
	if len(r.Segments) == 0 && in.lostEnd > 0 {
		r.Segments = append(r.Segments, Segment{Facts: segment.Empty(in.lostEnd)})
	}
	if err := in.watermarks(); err != nil {
		return err
	}
	r.Clean = checkpoint.Clean && !checkpoint.Dropping && !r.Foreign && len(r.Actions) == 0 && r.ScannedBatches == 0 &&
		len(r.Damage) == 0 && len(r.Segments) == len(checkpoint.Segments)
	return nil
}

type inspector struct {
	ctx        context.Context
	cfg        *segment.Config
	files      listing
	checkpoint *Checkpoint
	known      map[int64]segment.Facts
	empty      map[int64]bool // see findEmpty

	newestKnown int64  // base of the segment that was active when the checkpoint was written, -1 for none
	durableEnd  int64  // end of the known segments: the recovery point, unless the log start is above it
	running     bool   // see isUnfinished
	indexed     []byte // see readIndex
	flushed     int64  // Foreign: the offset below which the other program has synced
	repair      bool
	lostEnd     int64             // repair: where offsets end that were given out
	tell        func(bytes int64) // nil: nobody asks
	r           *Report
}

// watermarks concludes where the log starts and ends.
func (in *inspector) watermarks() error {
	r, c := in.r, in.checkpoint
	r.LogStart, r.HighWatermark, r.RecoveryPoint = c.LogStart, c.HighWatermark, c.RecoveryPoint
	if r.Foreign {
		start, err := kafkaOffset(in.cfg.FS, in.cfg.Dir, kafkadir.LogStartFile, &r.Note)
		if err != nil {
			return err
		}
		r.LogStart = max(r.LogStart, start)
	}
	if n := len(r.Segments); n > 0 {
		r.End = r.Segments[n-1].Next
		r.LogStart = max(r.LogStart, r.Segments[0].Base)
	}
	if r.Foreign {
		r.LogStart, r.HighWatermark = min(r.LogStart, r.End), r.End
	}
	if r.End < r.LogStart {
		// What is left is all below where the log was made to start, so it
		// starts empty there: offsets are never given twice.
		for _, s := range r.Segments {
			in.removeSegment(s.Base, false, fmt.Sprintf("all of it is below the log start offset %d", r.LogStart))
		}
		r.Segments, r.End = nil, r.LogStart
	}
	r.HighWatermark = min(max(r.HighWatermark, r.LogStart), r.End)
	r.RecoveryPoint = min(max(r.RecoveryPoint, r.LogStart), r.End)
	return nil
}
