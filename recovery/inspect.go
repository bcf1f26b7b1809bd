package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
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
	if err != nil {
		r.Foreign = true
		if !errors.Is(err, fs.ErrNotExist) {
			r.Note = "the checkpoint is not believed: " + err.Error()
		}
		checkpoint = &Checkpoint{}
	} else {
		r.Checkpoint = checkpoint
	}
	files, err := leftovers(ctx, cfg.FS, cfg.Dir, r)
	if err != nil {
		return nil, err
	}
	in := inspector{ctx: ctx, cfg: cfg, files: files, checkpoint: checkpoint, repair: o.Repair, r: r}
	in.known = make(map[int64]segment.Facts, len(checkpoint.Segments))
	for _, f := range checkpoint.Segments {
		in.known[f.Base] = f
	}
	if err := in.segments(); err != nil {
		return nil, err
	}
	in.watermarks()
	r.Clean = checkpoint.Clean && !r.Foreign && len(r.Actions) == 0 && r.ScannedBatches == 0 &&
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
	repair     bool
	r          *Report
}

// segments looks at each segment in turn and stops at a tear.
func (in *inspector) segments() error {
	bases := in.files.bases()
	in.missing(bases)
	for i, base := range bases {
		s, err := in.look(base)
		if err != nil {
			return err
		}
		torn, err := in.judge(&s, bases[i+1:])
		if err != nil {
			return err
		}
		in.r.Segments = append(in.r.Segments, in.withIndexes(s, i == len(bases)-1 || torn))
		if torn {
			for j := len(bases) - 1; j > i; j-- { // newest first: what is left is always a prefix
				in.setAside(bases[j], s.facts.Next)
			}
			return nil
		}
	}
	return nil
}

// missing reports segments that the checkpoint knows between others that are
// there. The oldest may be missing: another program's retention took them.
func (in *inspector) missing(bases []int64) {
	if len(bases) == 0 {
		return
	}
	has := make(map[int64]bool, len(bases))
	for _, b := range bases {
		has[b] = true
	}
	for _, f := range in.checkpoint.Segments {
		if f.Base > bases[0] && !has[f.Base] && f.Size > 0 && f.Next > in.checkpoint.LogStart {
			in.damage(&segment.DamageError{
				Path:    filepath.Join(in.cfg.Dir, segment.Name(f.Base, segment.LogSuffix)),
				Segment: f.Base, Offset: f.Base, Next: f.Next,
				Err: fmt.Errorf("%w: the file is missing", record.ErrCorrupt),
			})
		}
	}
}

// look finds out how far a segment is whole, reading only what the checkpoint
// does not vouch for.
func (in *inspector) look(base int64) (scanned, error) {
	name := filepath.Join(in.cfg.Dir, in.files[segment.Name(base, segment.LogSuffix)])
	info, err := in.cfg.FS.Stat(name)
	if err != nil {
		return scanned{}, err
	}
	known, has := in.known[base]
	if has && info.Size() == known.Size {
		return scanned{facts: known, fileEnd: known.Size, resume: -1, resumeAt: -1}, nil
	}
	if has && info.Size() > known.Size {
		s, err := scanLog(in.ctx, in.cfg.FS, name, known)
		if err != nil || s.ending != endsTorn || s.batches > 0 {
			s.facts.HasSeal = false
			in.r.count(s)
			return s, err
		}
		// Not one batch follows where we stopped writing. Perhaps nothing came,
		// perhaps another program has written this file anew: look at all of it.
	}
	s, err := scanLog(in.ctx, in.cfg.FS, name, segment.Empty(base))
	in.r.count(s)
	if err == nil && has && s.facts.Size < known.Size {
		s.ending = endsTorn
		s.err = fmt.Errorf("%w: %d bytes of the %d that were durable are whole; if another program has written here since, remove %s",
			record.ErrCorrupt, s.facts.Size, known.Size, CheckpointName)
	}
	return s, err
}

// judge decides about the end of a segment, by the table in the package
// comment; later are the bases behind it. torn says that the log ends here.
func (in *inspector) judge(s *scanned, later []int64) (torn bool, err error) {
	for {
		f := &s.facts
		last := len(later) == 0
		beyond := !in.r.Foreign && f.Next >= in.checkpoint.RecoveryPoint && f.Size >= in.known[f.Base].Size
		gap := !last && later[0] != f.Next
		if gap {
			_, known := in.known[later[0]]
			gap = !known
		}
		switch s.ending {
		case endsClean:
			return gap && beyond, nil
		case endsZero:
			if last || !gap || beyond {
				in.cut(s, "", "zeros follow the last whole batch")
				return gap && beyond, nil
			}
			s.err = fmt.Errorf("%w: zeros where offset %d should be", record.ErrCorrupt, f.Next)
		case endsTorn:
			if beyond || last && in.r.Foreign && s.resume < 0 {
				in.cut(s, tornName(f.Next), fmt.Sprintf("torn tail: %v", s.err))
				return true, nil
			}
		}
		in.damage(&segment.DamageError{
			Path:    filepath.Join(in.cfg.Dir, segment.Name(f.Base, segment.LogSuffix)),
			Segment: f.Base, Position: f.Size, Offset: f.Next, Next: s.resumeAt, Err: s.err,
		})
		if !in.repair {
			return false, nil
		}
		if s.resume < 0 {
			in.cut(s, damagedName(f.Next), fmt.Sprintf("damage: %v", s.err))
			return false, nil
		}
		if err := in.excise(s); err != nil {
			return false, err
		}
	}
}

// cut is the action that ends a segment where its whole batches end. The
// bytes are kept under the name keep unless that is "".
func (in *inspector) cut(s *scanned, keep, reason string) {
	if s.fileEnd == s.facts.Size {
		return
	}
	name := segment.Name(s.facts.Base, segment.LogSuffix)
	in.r.Actions = append(in.r.Actions, Action{Kind: Cut, Name: name, To: keep, Segment: s.facts.Base,
		Size: s.facts.Size + s.excised, Bytes: s.fileEnd - s.facts.Size - s.excised, Reason: reason})
}

// excise is the action that takes a damaged stretch out of a segment, and goes
// on behind it.
func (in *inspector) excise(s *scanned) error {
	f := s.facts
	name := segment.Name(f.Base, segment.LogSuffix)
	in.r.Actions = append(in.r.Actions, Action{Kind: Excise, Name: name, To: damagedName(f.Next), Segment: f.Base,
		Size: f.Size + s.excised, Bytes: s.resume - f.Size - s.excised, Reason: s.err.Error()})

	// Scan on over the file as it is, then count what was taken out.
	excised := s.resume - f.Size
	f.Next, f.Size, f.HasSeal = s.resumeAt, s.resume, false
	rest, err := scanLog(in.ctx, in.cfg.FS, filepath.Join(in.cfg.Dir, in.files[name]), f)
	in.r.ScannedBatches += rest.batches
	rest.excised = excised
	rest.facts.Size -= excised
	*s = rest
	return err
}

// setAside is the action that takes a segment behind a tear out of the log.
func (in *inspector) setAside(base, tear int64) {
	name := segment.Name(base, segment.LogSuffix)
	in.r.Actions = append(in.r.Actions, Action{Kind: SetAside, Name: in.files[name], To: tornName(base), Segment: base,
		Reason: fmt.Sprintf("it is behind the tear at offset %d, and was not durable", tear)})
}

func (in *inspector) damage(d *segment.DamageError) { in.r.Damage = append(in.r.Damage, d) }

// withIndexes decides how far the index files of a segment are believed.
func (in *inspector) withIndexes(s scanned, active bool) Segment {
	seg := Segment{Facts: s.facts, Trusted: segment.TrustAll}
	name := segment.Name(s.facts.Base, segment.LogSuffix)
	known, has := in.known[s.facts.Base]
	reason := ""
	for _, part := range []struct {
		suffix string
		want   int64
		entry  int64
	}{
		{segment.IndexSuffix, known.IndexBytes, index.OffsetEntrySize},
		{segment.TimeIndexSuffix, known.TimeBytes, index.TimeEntrySize},
	} {
		size, err := in.sizeOf(segment.Name(s.facts.Base, part.suffix))
		switch {
		case err != nil:
			reason = "an index is missing"
		case has && known.Size == s.facts.Size && size != part.want:
			reason = fmt.Sprintf("%d bytes of %s, want %d", size, part.suffix, part.want)
		case size%part.entry != 0:
			reason = fmt.Sprintf("%d bytes of %s are no whole number of entries", size, part.suffix)
		}
	}
	changed := !has || known.Size != s.facts.Size
	switch {
	case active && (changed || reason != ""):
		seg.Trusted = min(known.Size, s.facts.Size)
	case !active && reason == "" && changed:
		reason = in.checkSealed(s.facts)
	}
	if !active && reason != "" && s.facts.Size > 0 {
		in.r.Actions = append(in.r.Actions, Action{Kind: Reindex, Name: name, Segment: s.facts.Base, Reason: reason})
	}
	return seg
}

func (in *inspector) sizeOf(name string) (int64, error) {
	present, ok := in.files[name]
	if !ok {
		return 0, fs.ErrNotExist
	}
	info, err := in.cfg.FS.Stat(filepath.Join(in.cfg.Dir, present))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
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
			r.remove(segment.Name(s.Base, segment.LogSuffix), fmt.Sprintf("all of it is below the log start offset %d", r.LogStart))
		}
		r.Segments, r.End = nil, r.LogStart
	}
	r.HighWatermark = min(max(r.HighWatermark, r.LogStart), r.End)
	r.RecoveryPoint = min(max(r.RecoveryPoint, r.LogStart), r.End)
}

// checkSealed holds the index files of a sealed segment, just scanned, against
// its log, and says what is wrong with them, "" for nothing.
func (in *inspector) checkSealed(f segment.Facts) string {
	if err := in.walkIndexes(f); err != nil {
		return err.Error()
	}
	return ""
}

func (in *inspector) walkIndexes(f segment.Facts) (err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	present := func(suffix string) string {
		return filepath.Join(in.cfg.Dir, in.files[segment.Name(f.Base, suffix)])
	}
	offsets, err := vfs.ReadFile(in.cfg.FS, present(segment.IndexSuffix))
	if err != nil {
		return err
	}
	times, err := vfs.ReadFile(in.cfg.FS, present(segment.TimeIndexSuffix))
	if err != nil || f.Size == 0 {
		return err
	}
	log, err := mapped(in.cfg.FS, present(segment.LogSuffix), f.Size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Unmap()) }()
	walk := newIndexWalk(f.Base, offsets, times)
	for pos := int64(0); pos < f.Size; {
		h, err := record.ParseHeader(log.Bytes()[pos:])
		if err != nil {
			return err
		}
		walk.batch(h, pos)
		pos += int64(h.Size)
	}
	walk.end(f, true)
	return errors.Join(walk.offsetErr, walk.timeErr)
}
