package recovery

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// hurt reports what stands where a segment's whole batches end as damage. To
// repair, it is taken out; otherwise it stays, so that who reads the log meets
// it there. done says that nothing can be read behind it.
func (in *inspector) hurt(s *scanned, later []int64) (done bool, err error) {
	f := s.facts
	d := &segment.DamageError{
		Path:    filepath.Join(in.cfg.Dir, segment.Name(f.Base, segment.LogSuffix)),
		Segment: f.Base, Position: f.Size + s.excised, Offset: f.Next, Next: s.resumeAt, NextPosition: max(s.resume, 0), Err: s.err,
	}
	in.r.Damage = append(in.r.Damage, d)
	switch {
	case s.resume >= 0 && in.repair:
		return false, in.excise(s)
	case s.resume >= 0:
		return false, in.passOver(s)
	case in.repair:
		in.cut(s, in.aside(damagedPrefix, f.Next), fmt.Sprintf("damage: %v", s.err))
	}
	end := s.lostEnd(in.known[f.Base])
	if len(later) > 0 {
		end = max(f.Next, later[0])
	}
	if in.repair {
		in.lostEnd = max(in.lostEnd, end)
		return true, nil
	}
	s.facts.Next, s.facts.HasSeal = end, false
	s.lost = d
	return true, nil
}

// excise is the action that takes a damaged stretch out of a segment, and goes
// on behind it. Positions in actions are those in the file as it is; sizes in
// facts are without what is taken out.
func (in *inspector) excise(s *scanned) error {
	f := s.facts
	position := f.Size + s.excised
	in.r.Actions = append(in.r.Actions, Action{Kind: Excise, Name: segment.Name(f.Base, segment.LogSuffix), To: in.aside(damagedPrefix, f.Next),
		Segment: f.Base, Size: position, Bytes: s.resume - position, Reason: s.err.Error()})

	f.Next, f.HasSeal = s.resumeAt, false
	from := scanned{facts: f, later: s.later, tell: in.tell, excised: s.resume - f.Size, intact: f.Size}
	if s.excised > 0 {
		from.intact = s.intact
	}
	return in.goOn(s, from)
}

// passOver goes on behind a damaged stretch that stays.
func (in *inspector) passOver(s *scanned) error {
	f := s.facts
	f.Size, f.Next, f.HasSeal = s.resume, s.resumeAt, false
	return in.goOn(s, scanned{facts: f, later: s.later, tell: in.tell, limited: s.limited, limit: s.limit})
}

func (in *inspector) goOn(s *scanned, from scanned) error {
	name := in.files[segment.Name(s.facts.Base, segment.LogSuffix)]
	rest, err := scanLog(in.ctx, in.cfg.FS, filepath.Join(in.cfg.Dir, name), from)
	in.r.count(rest)
	*s = rest
	return err
}

// missing reports segments that the checkpoint knows and that are not there.
// The oldest may be missing: another program's retention took them. But no
// program takes all: it leaves an empty one.
func (in *inspector) missing(bases []int64) {
	has := make(map[int64]bool, len(bases))
	for _, b := range bases {
		has[b] = true
	}
	for _, f := range in.checkpoint.Segments {
		if (len(bases) == 0 || f.Base > bases[0]) && !has[f.Base] && f.Size > 0 && f.Next > in.checkpoint.LogStart {
			in.loseSegment(f)
		}
	}
}

// loseSegment reports a segment that is not there. It has its place in the log
// all the same, so that who reads the log meets the damage.
func (in *inspector) loseSegment(f segment.Facts) {
	d := &segment.DamageError{
		Path:    filepath.Join(in.cfg.Dir, segment.Name(f.Base, segment.LogSuffix)),
		Segment: f.Base, Offset: f.Base, Next: f.Next,
		Err: fmt.Errorf("%w: the file is missing: %w", record.ErrCorrupt, fs.ErrNotExist),
	}
	in.r.Damage = append(in.r.Damage, d)
	if in.repair {
		in.lostEnd = max(in.lostEnd, f.Next)
		return
	}
	lost := *d
	lost.Next = -1
	empty := segment.Empty(f.Base)
	empty.Next = f.Next
	in.r.Segments = append(in.r.Segments, Segment{Facts: empty, Lost: &lost})
}

// sort puts segments that are not there in their place.
func (in *inspector) sort() {
	slices.SortStableFunc(in.r.Segments, func(a, b Segment) int { return cmp.Compare(a.Base, b.Base) })
}
