package recovery

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// segments looks at each segment in turn and stops at a tear.
func (in *inspector) segments() error {
	bases, err := in.droppedAfter(in.droppedBefore(in.files.bases()))
	if err != nil {
		return err
	}
	in.missing(bases)
	if err := in.findEmpty(bases); err != nil {
		return err
	}
	defer in.sort()
	for i := 0; i < len(bases); i++ {
		if i == len(bases)-1 {
			if err := in.readIndex(bases[i]); err != nil {
				return err
			}
		}
		s, err := in.look(bases[i], in.withBatches(bases[i+1:]))
		if err != nil {
			return err
		}
		bases = in.withoutStrays(bases, i, s.facts.Next)
		torn, err := in.judge(&s, bases[i+1:])
		if err != nil {
			return err
		}
		bases = in.withoutStrays(bases, i, s.facts.Next) // it may go on behind damage that is cut out
		ends := i == len(bases)-1 || torn
		beyond := ends && in.repair && in.lostEnd > s.facts.Next
		seg, err := in.withIndexes(s, ends && !beyond)
		if err != nil {
			return err
		}
		seg.Lost = s.lost
		in.r.Segments = append(in.r.Segments, seg)
		if beyond {
			// Offsets that were given out are not given out again.
			in.r.Segments = append(in.r.Segments, Segment{Facts: segment.Empty(in.lostEnd)})
		}
		if torn {
			for j := len(bases) - 1; j > i; j-- { // newest first: what is left is always a prefix
				in.setAside(bases[j], s.facts.Next)
			}
			break
		}
	}
	return nil
}

// findEmpty notes the empty segments that our checkpoint does not know. A roll
// began them; if it failed, and could not unlink what it had made, the segment
// before may have gone on past where they begin.
func (in *inspector) findEmpty(bases []int64) error {
	in.empty = make(map[int64]bool)
	if in.r.Foreign { // Kafka's cleaner leaves empty ones
		return nil
	}
	for _, base := range bases {
		size, err := in.sizeOf(segment.Name(base, segment.LogSuffix))
		if err != nil {
			return err
		}
		_, known := in.known[base]
		in.empty[base] = size == 0 && !known
	}
	return nil
}

// withBatches lists those of the bases that bound the segments before them.
func (in *inspector) withBatches(bases []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(bases), func(base int64) bool { return in.empty[base] })
}

// withoutStrays takes out the empty segments behind bases[i] that begin among
// its offsets, below next.
func (in *inspector) withoutStrays(bases []int64, i int, next int64) []int64 {
	for len(bases) > i+1 && bases[i+1] < next && in.empty[bases[i+1]] {
		in.removeSegment(bases[i+1], false, fmt.Sprintf("it is empty, of a roll that failed: the segment before goes on to %d", next))
		bases = slices.Delete(bases, i+1, i+2)
	}
	return bases
}

// droppedBefore takes out the segments that end at or below the log start and
// that the checkpoint does not know any more: the log had dropped them and was
// stopped before it unlinked them. Those it knows wait for the next drop, and
// what is below another program's log start is that program's business.
func (in *inspector) droppedBefore(bases []int64) []int64 {
	if in.r.Foreign {
		return bases
	}
	for len(bases) > 1 && bases[1] <= in.checkpoint.LogStart {
		if _, known := in.known[bases[0]]; known {
			break
		}
		in.removeSegment(bases[0], true, fmt.Sprintf("all of it is below the log start offset %d", in.checkpoint.LogStart))
		bases = bases[1:]
	}
	return bases
}

// droppedAfter takes out the segments behind where a DropFrom that did not come
// to its end cuts the log, the newest first; of a DropAll, which cuts it to
// nothing and lets it start elsewhere, all but the one that it begins with.
func (in *inspector) droppedAfter(bases []int64) (kept []int64, err error) {
	c := in.checkpoint
	if !c.Dropping {
		return bases, nil
	}
	for _, base := range slices.Backward(bases) {
		stays := base <= c.DropFrom
		if !stays && base == c.LogStart && c.DropFrom < c.LogStart {
			size, err := in.sizeOf(segment.Name(base, segment.LogSuffix))
			if err != nil {
				return nil, err
			}
			stays = size == 0
		}
		if stays {
			kept = append(kept, base)
			continue
		}
		in.removeSegment(base, false, fmt.Sprintf("the log was being cut to end at %d", c.DropFrom))
	}
	slices.Reverse(kept)
	return kept, nil
}

// removeSegment is the actions that unlink all files of a segment, the log
// first: what is left of the others after a crash are orphans, not a segment.
func (in *inspector) removeSegment(base int64, later bool, reason string) {
	for _, suffix := range []string{segment.LogSuffix, segment.IndexSuffix, segment.TimeIndexSuffix,
		segment.TxnIndexSuffix, segment.SnapshotSuffix} {
		name := segment.Name(base, suffix)
		if _, ok := in.files[name]; ok {
			in.r.Actions = append(in.r.Actions, Action{Kind: Remove, Name: name, Segment: base, Later: later, Reason: reason})
		}
	}
}

// look finds out how far a segment is whole, reading only what the checkpoint
// does not vouch for; later are the bases behind it.
func (in *inspector) look(base int64, later []int64) (scanned, error) {
	name := filepath.Join(in.cfg.Dir, in.files[segment.Name(base, segment.LogSuffix)])
	info, err := in.cfg.FS.Stat(name)
	if err != nil {
		return scanned{}, err
	}
	known, has := in.known[base]
	if in.repair {
		return in.lookAtAll(name, base, later)
	}
	if has && info.Size() == known.Size {
		return scanned{facts: known, fileEnd: known.Size, resume: -1, resumeAt: -1}, nil
	}
	if has && info.Size() > known.Size {
		s, err := scanLog(in.ctx, in.cfg.FS, name, in.bounded(scanned{facts: known, later: later}))
		in.r.count(s)
		if err != nil || s.ending != endsTorn || s.batches > 0 {
			s.facts.HasSeal = known.HasSeal && s.facts.Size == known.Size
			return s, err
		}
		// Not one batch follows where we stopped writing. Perhaps nothing came,
		// perhaps another program has written this file anew: look at all of it.
	}
	return in.lookAtAll(name, base, later)
}

// lookAtAll verifies a segment from its first batch on, whatever the checkpoint
// vouches for.
func (in *inspector) lookAtAll(name string, base int64, later []int64) (scanned, error) {
	known, has := in.known[base]
	s, err := scanLog(in.ctx, in.cfg.FS, name, in.bounded(scanned{facts: segment.Empty(base), later: later}))
	in.r.count(s)
	if err == nil && has && s.facts.Size == known.Size && s.ending == endsClean {
		s.facts = known
	}
	if err == nil && has && s.facts.Size < known.Size {
		why := s.err
		if s.ending != endsTorn {
			why = fmt.Errorf("%w: the bytes end", record.ErrCorrupt)
		}
		s.ending = endsTorn
		s.err = fmt.Errorf("%w; %d bytes of the %d that were durable are whole; if another program has written here since, remove %s",
			why, s.facts.Size, known.Size, CheckpointName)
	}
	return s, err
}

// bounded tells a scan where a power cut may have torn batches and, of the newest
// segment, where a DropFrom that did not come to its end cuts the log.
func (in *inspector) bounded(s scanned) scanned {
	s.tell = in.tell
	if !in.running {
		s.tornFrom = max(in.known[s.facts.Base].Size, 1)
	}
	if len(s.later) == 0 && in.checkpoint.Dropping {
		s.limited, s.limit = true, in.checkpoint.DropFrom
	}
	return s
}

// judge decides about the end of a segment, by the table in the package
// comment; later are the bases behind it. torn says that the log ends here.
func (in *inspector) judge(s *scanned, later []int64) (torn bool, err error) {
	for {
		f := &s.facts
		last := len(later) == 0
		beyond := !in.r.Foreign && f.Next >= in.durableEnd && f.Size >= in.known[f.Base].Size
		gap := !last && later[0] != f.Next
		if gap {
			_, known := in.known[later[0]]
			gap = !known
		}
		switch s.ending {
		case endsClean:
			if gap && beyond && in.running {
				in.loseSegment(segment.Facts{Base: f.Next, Next: later[0]})
				return false, nil
			}
			return gap && beyond, nil
		case endsDropped:
			in.cut(s, "", fmt.Sprintf("the log was being cut to end at %d", f.Next))
			return false, nil
		case endsZero:
			if last && beyond && in.running {
				if s.err = in.indexedBehind(s); s.err != nil {
					break
				}
			}
			if last || !gap || beyond && !in.running {
				in.cut(s, "", "zeros follow the last whole batch")
				return gap && beyond, nil
			}
			s.err = fmt.Errorf("%w: zeros where offset %d should be", record.ErrCorrupt, f.Next)
		case endsTorn:
			if in.canBeTorn(s, last, beyond) {
				if in.running {
					// Nothing follows a batch that was being copied.
					if err := in.indexedBehind(s); err != nil {
						s.err = err
						break
					}
				}
				in.cut(s, in.aside(tornPrefix, f.Next), fmt.Sprintf("torn tail: %v", s.err))
				return gap, nil
			}
		}
		if done, err := in.hurt(s, later); done || err != nil {
			return false, err
		}
	}
}

// canBeTorn says whether a crash can have left what stands where the whole
// batches end.
func (in *inspector) canBeTorn(s *scanned, last, beyond bool) bool {
	switch {
	case in.r.Foreign:
		return last && s.resume < 0 && s.facts.Next >= in.flushed
	case in.running:
		return last && beyond && s.unfinished
	}
	return beyond
}

// cut is the action that ends a segment where its whole batches end. The
// bytes are kept under the name keep unless that is "".
func (in *inspector) cut(s *scanned, keep, reason string) {
	position := s.facts.Size + s.excised
	if s.fileEnd == position {
		return
	}
	name := segment.Name(s.facts.Base, segment.LogSuffix)
	in.r.Actions = append(in.r.Actions, Action{Kind: Cut, Name: name, To: keep, Segment: s.facts.Base,
		Size: position, Bytes: s.fileEnd - position, Reason: reason})
}

// setAside is the action that takes a segment behind a tear out of the log.
func (in *inspector) setAside(base, tear int64) {
	name := segment.Name(base, segment.LogSuffix)
	in.r.Actions = append(in.r.Actions, Action{Kind: SetAside, Name: name, To: in.aside(tornPrefix, base), Segment: base,
		Reason: fmt.Sprintf("it is behind the tear at offset %d, and was not durable", tear)})
}
