package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// Options are choices about damage.
type Options struct {
	// Repair lets the report contain actions that lose damaged records: what is
	// bad is cut out and kept aside, and the rest opens.
	Repair bool
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
	files, err := leftovers(ctx, cfg, r)
	if err != nil {
		return nil, err
	}
	in := inspector{ctx: ctx, cfg: cfg, files: files, checkpoint: checkpoint, repair: o.Repair, r: r}
	in.known = make(map[int64]segment.Facts, len(checkpoint.Segments))
	for _, f := range checkpoint.Segments {
		in.known[f.Base] = f
		in.durableEnd = max(in.durableEnd, f.Next)
	}
	if err := in.segments(); err != nil {
		return nil, err
	}
	in.watermarks()
	r.Clean = checkpoint.Clean && !checkpoint.Dropping && !r.Foreign && len(r.Actions) == 0 && r.ScannedBatches == 0 &&
		len(r.Damage) == 0 && len(r.Segments) == len(checkpoint.Segments)
	r.Took = time.Since(began)
	return r, nil
}

type inspector struct {
	ctx        context.Context
	cfg        *segment.Config
	files      listing
	checkpoint *Checkpoint
	known      map[int64]segment.Facts
	empty      map[int64]bool // see findEmpty
	durableEnd int64          // end of the known segments: the recovery point, unless the log start is above it
	repair     bool
	r          *Report
}

// watermarks concludes where the log starts and ends.
func (in *inspector) watermarks() {
	r, c := in.r, in.checkpoint
	r.LogStart, r.HighWatermark, r.RecoveryPoint = c.LogStart, c.HighWatermark, c.RecoveryPoint
	if r.Foreign {
		r.LogStart, r.Note = kafkaLogStart(in.cfg.FS, in.cfg.Dir, r.Note)
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
}
