package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/segment"
)

// Apply does what the report says. It may be interrupted anywhere; Inspect and
// Apply again then finish the work. Nothing it needs room for is needed: on a
// full disk what would be kept aside is dropped, and indexes are derived in
// memory.
func Apply(ctx context.Context, cfg *segment.Config, r *Report) error {
	if r.Clean {
		return nil
	}
	if r.Owed = r.canWait(); r.Owed {
		return applyUnsynced(cfg, r)
	}
	// Names are made durable before anything is done for the sake of them, and even
	// if nothing is: a process that was killed may have left a checkpoint, replacements
	// and segments whose names are not.
	if len(r.Actions) > 0 {
		if err := cfg.FS.SyncDir(cfg.Dir); err != nil {
			return err
		}
	}
	excised := make(map[int64][]Action)
	changed := make(map[int64]bool)
	removed := false
	for _, a := range r.Actions {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		changed[a.Segment] = changed[a.Segment] || a.Kind == Cut || a.Kind == Excise
		if a.Kind == Excise {
			excised[a.Segment] = append(excised[a.Segment], a)
			continue
		}
		// What was removed must not come back beside what depends on its removal:
		// a .swap without its .cleaned, a segment beside its replacement.
		if removed && (a.Kind == Finish || strings.HasSuffix(a.Name, segment.CleanedSuffix)) {
			if err := cfg.FS.SyncDir(cfg.Dir); err != nil {
				return err
			}
			removed = false
		}
		if err := apply(cfg, r, a, true); err != nil {
			return fmt.Errorf("recovery: %s: %w", a, err)
		}
		removed = removed || a.Kind == Remove
	}
	for _, base := range slices.Sorted(maps.Keys(excised)) {
		if err := excise(cfg, base, excised[base]); err != nil {
			return fmt.Errorf("recovery: %s: %w", excised[base][0], err)
		}
	}
	for i := range r.Segments[:max(len(r.Segments)-1, 0)] {
		// A sealed segment that was changed has indexes of what it was.
		if s := &r.Segments[i]; changed[s.Base] {
			if err := reindex(cfg, s); err != nil {
				return err
			}
		}
	}
	if err := pruneKept(cfg.FS, cfg.Dir); err != nil {
		return err
	}
	return cfg.FS.SyncDir(cfg.Dir)
}

// apply does an action. Of those that can wait, which only cut and remove, nothing is
// made durable.
func apply(cfg *segment.Config, r *Report, a Action, durably bool) error {
	name := filepath.Join(cfg.Dir, a.Name)
	switch a.Kind {
	case Remove:
		err := removeIfThere(cfg.FS, name)
		if err != nil && a.Later {
			cfg.Logger.Warn("recovery: a file of no use could not be removed", "file", name, "error", err)
			return nil
		}
		return err
	case Finish:
		return vfs.Replace(cfg.FS, name, filepath.Join(cfg.Dir, a.To))
	case Cut:
		return cut(cfg, name, a, durably)
	case SetAside:
		return setAside(cfg, name, a)
	case Reindex:
		for i := range r.Segments {
			if s := &r.Segments[i]; s.Base == a.Segment {
				return reindex(cfg, s)
			}
		}
	}
	return nil
}

// reindex derives the indexes of a sealed segment, and notes their sizes.
func reindex(cfg *segment.Config, s *Segment) error {
	if err := segment.Reindex(cfg, s.Facts); err != nil {
		return err
	}
	for _, part := range []struct {
		suffix string
		size   *int64
	}{{segment.IndexSuffix, &s.IndexBytes}, {segment.TimeIndexSuffix, &s.TimeBytes}} {
		info, err := cfg.FS.Stat(filepath.Join(cfg.Dir, segment.Name(s.Base, part.suffix)))
		switch {
		case errors.Is(err, fs.ErrNotExist): // there was no room for it
			*part.size = 0
		case err != nil:
			return err
		default:
			*part.size = info.Size()
		}
	}
	return nil
}

func removeIfThere(fsys vfs.FS, name string) error {
	if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// cut keeps and takes off a file's tail, durably or not.
func cut(cfg *segment.Config, name string, a Action, durably bool) (err error) {
	f, err := cfg.FS.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if a.To != "" {
		if err := keepTail(cfg, f, a, durably); err != nil {
			return err
		}
	}
	if err := f.Truncate(a.Size); err != nil || !durably {
		return err
	}
	return f.Sync()
}

func keepTail(cfg *segment.Config, f vfs.File, a Action, durably bool) (err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	m, err := f.Map(a.Size+a.Bytes, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Unmap()) }()
	keepIfRoom(cfg, a.To, m.Bytes()[a.Size:], durably)
	return nil
}

// keepIfRoom keeps bytes that are about to be taken out. That they cannot be
// kept must not keep a log from opening.
func keepIfRoom(cfg *segment.Config, name string, b []byte, durably bool) {
	if err := keep(cfg.FS, cfg.Dir, name, b, durably); err != nil {
		cfg.Logger.Warn("recovery: bytes taken out of the log could not be kept", "file", name, "error", err)
	}
}

// setAside renames a segment's log out of the way; its indexes go.
func setAside(cfg *segment.Config, name string, a Action) error {
	if err := vfs.Replace(cfg.FS, name, filepath.Join(cfg.Dir, a.To)); err != nil {
		return err
	}
	for _, suffix := range []string{segment.IndexSuffix, segment.TimeIndexSuffix, segment.TxnIndexSuffix, segment.SnapshotSuffix} {
		if err := removeIfThere(cfg.FS, filepath.Join(cfg.Dir, segment.Name(a.Segment, suffix))); err != nil {
			return err
		}
	}
	return nil
}

// excise writes the segment's log anew without the damaged stretches, which are
// in ascending order.
func excise(cfg *segment.Config, base int64, actions []Action) (err error) {
	name := filepath.Join(cfg.Dir, segment.Name(base, segment.LogSuffix))
	content, err := vfs.ReadFile(cfg.FS, name)
	if err != nil {
		return err
	}
	kept := content[:0:0]
	from := int64(0)
	for _, a := range append(actions, Action{Size: int64(len(content)), Bytes: math.MaxInt64}) {
		kept = append(kept, content[from:a.Size]...)
		if a.Bytes != math.MaxInt64 {
			from = a.Size + a.Bytes
			keepIfRoom(cfg, a.To, content[a.Size:from], true)
		}
	}
	return vfs.WriteFile(cfg.FS, name, kept)
}
