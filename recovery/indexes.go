package recovery

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// withIndexes decides how far the index files of a segment are believed.
//
// Those of a sealed segment were synced before the checkpoint that knows it as
// one, so their sizes tell; otherwise they are held against the log. Those of the
// active segment are synced by a clean close only, but what of their entries is
// there is true: see segment.OpenActive.
func (in *inspector) withIndexes(s scanned, active bool) (Segment, error) {
	f := s.facts
	swapped := in.files[segment.Name(f.Base, segment.LogSuffix)] != segment.Name(f.Base, segment.LogSuffix)
	known, has := in.known[f.Base]
	changed := !has || known.Size != f.Size || s.excised > 0
	reason := ""
	other := !active && f.Base == in.newestKnown // than noted: it was sealed since
	for _, part := range []struct {
		suffix string
		size   *int64 // in the facts
		entry  int64
	}{
		{segment.IndexSuffix, &f.IndexBytes, index.OffsetEntrySize},
		{segment.TimeIndexSuffix, &f.TimeBytes, index.TimeEntrySize},
	} {
		name := segment.Name(f.Base, part.suffix)
		size, err := in.sizeOf(name)
		swapped = swapped || err == nil && in.files[name] != name
		want := *part.size
		*part.size = size
		switch {
		case errors.Is(err, fs.ErrNotExist):
			reason = fmt.Sprintf("%s is missing", part.suffix)
		case err != nil:
			return Segment{}, err
		case size%part.entry != 0:
			reason = fmt.Sprintf("%d bytes of %s are no whole number of entries", size, part.suffix)
		case !changed && size == 0 && want > 0:
			reason = fmt.Sprintf("%s is empty: there was no room for it", part.suffix)
		case !changed && size != want:
			other = true
		}
	}
	if active {
		return Segment{Facts: f, Trusted: in.trusted(s, changed || other || reason != ""), Swapped: swapped}, nil
	}
	if reason == "" && (changed || other) && s.excised == 0 {
		whole, err := in.endsTrue(f)
		if err == nil && !whole {
			reason, err = in.checkSealed(f)
		}
		if err != nil {
			return Segment{}, err
		}
	}
	if (reason != "" || s.excised > 0) && f.Size > 0 {
		in.r.Actions = append(in.r.Actions, Action{Kind: Reindex, Name: segment.Name(f.Base, segment.LogSuffix),
			Segment: f.Base, Reason: reason})
	}
	return Segment{Facts: f, Trusted: segment.TrustAll, Swapped: swapped}, nil
}

// trusted is the position in the active segment below which index entries can
// be true.
func (in *inspector) trusted(s scanned, doubtful bool) int64 {
	if !doubtful && in.checkpoint.Clean {
		return segment.TrustAll
	}
	trusted := min(in.known[s.facts.Base].Size, s.facts.Size)
	if s.excised > 0 {
		trusted = min(trusted, s.intact)
	}
	return trusted
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

// checkSealed holds the index files of a sealed segment, just scanned, against
// its log, and says what is wrong with them, "" for nothing. An index that
// cannot be read is wrong; a log that cannot is an error.
func (in *inspector) checkSealed(f segment.Facts) (reason string, err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	present := func(suffix string) string {
		return filepath.Join(in.cfg.Dir, in.files[segment.Name(f.Base, suffix)])
	}
	if f.Size == 0 {
		return "", nil
	}
	log, err := mapped(in.cfg.FS, present(segment.LogSuffix), f.Size)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, log.Unmap()) }()
	offsets, err := vfs.ReadFile(in.cfg.FS, present(segment.IndexSuffix))
	if err != nil {
		return err.Error(), nil
	}
	times, err := vfs.ReadFile(in.cfg.FS, present(segment.TimeIndexSuffix))
	if err != nil {
		return err.Error(), nil
	}
	walk := newIndexWalk(f.Base, offsets, times)
	for pos := int64(0); pos < f.Size; {
		h, err := record.ParseHeader(log.Bytes()[pos:])
		if err != nil || int64(h.Size) > f.Size-pos {
			return fmt.Sprintf("the log is damaged at position %d", pos), nil
		}
		walk.batch(h, pos)
		pos += int64(h.Size)
	}
	walk.end(f, true)
	if err := errors.Join(walk.offsetErr, walk.timeErr); err != nil {
		return err.Error(), nil
	}
	return "", nil
}
