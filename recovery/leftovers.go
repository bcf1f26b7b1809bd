package recovery

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"sort"
	"strings"

	"github.com/seglog/seglog/internal/epochs"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/segment"
)

// listing is the directory's names as they will be once the actions that deal
// with leftovers are done: final name to present name.
type listing map[string]string

// leftovers decides about files that a crash left in the middle of being
// written, replaced or deleted, as Kafka does (LogLoader): first .deleted, then
// .cleaned and the .swap files that were not yet all renamed from .cleaned,
// then the replacements that are complete.
func leftovers(ctx context.Context, cfg *segment.Config, r *Report) (listing, error) {
	entries, err := cfg.FS.ReadDir(cfg.Dir)
	if err != nil {
		return nil, err
	}
	files := make(listing, len(entries))
	var cleaned, swaps, deleted []string
	cleanedFrom := int64(math.MaxInt64)
	for _, e := range entries {
		name := e.Name()
		base, suffix, ok := segment.ParseName(name)
		switch {
		case e.IsDir():
		case ok && strings.HasSuffix(suffix, segment.DeletedSuffix):
			r.removeSometime(name, "it was about to be deleted")
			deleted = append(deleted, name)
		case ok && strings.HasSuffix(suffix, segment.CleanedSuffix):
			cleaned = append(cleaned, name)
			cleanedFrom = min(cleanedFrom, base)
		case ok && strings.HasSuffix(suffix, segment.SwapSuffix):
			swaps = append(swaps, name)
		case strings.HasSuffix(name, vfs.TempSuffix) && (ok || strings.HasPrefix(name, "seglog.") || name == epochs.FileName+vfs.TempSuffix):
			r.removeSometime(name, "it was only half written")
		default:
			files[name] = name
		}
	}
	var complete []string
	for _, name := range swaps {
		if base, _, _ := segment.ParseName(name); base >= cleanedFrom {
			r.remove(name, "the replacement it belongs to is not complete")
		} else {
			complete = append(complete, name)
		}
	}
	for _, name := range cleaned {
		r.remove(name, "the replacement it belongs to is not complete")
	}
	if err := files.finish(ctx, cfg, complete, deleted, r); err != nil {
		return nil, err
	}
	files.dropOrphans(r)
	return files, nil
}

// finish lets complete .swap files take the place of every segment in the range
// of offsets that they cover. One that is damaged, which a crash cannot do to it,
// replaces nothing as long as the original is there.
func (files listing) finish(ctx context.Context, cfg *segment.Config, swaps, deleted []string, r *Report) error {
	lo, hi, whole := int64(math.MaxInt64), int64(0), true
	for _, name := range swaps {
		base, suffix, _ := segment.ParseName(name)
		if suffix != segment.LogSuffix+segment.SwapSuffix {
			continue
		}
		s, err := scanLog(ctx, cfg.FS, filepath.Join(cfg.Dir, name), scanned{facts: segment.Empty(base)})
		if err != nil {
			return err
		}
		r.count(s)
		whole = whole && s.ending == endsClean
		for s.ending == endsTorn && s.resume >= 0 { // what it covers counts, not what can be read
			s.facts.Next, s.excised = s.resumeAt, s.resume-s.facts.Size
			if s, err = scanLog(ctx, cfg.FS, filepath.Join(cfg.Dir, name), s); err != nil {
				return err
			}
		}
		lo, hi = min(lo, base), max(hi, s.facts.Next)
	}
	_, original := files[segment.Name(lo, segment.LogSuffix)]
	for _, name := range deleted {
		base, _, _ := segment.ParseName(name)
		original = original && (base < lo || base >= hi)
	}
	switch {
	case len(swaps) == 0:
		return nil
	case !whole && original:
		for _, name := range swaps {
			r.remove(name, "it is damaged, and the original is there")
		}
		return nil
	}
	for _, name := range files.sorted() {
		if base, _, ok := segment.ParseName(name); ok && base >= lo && base < hi {
			r.remove(name, fmt.Sprintf("a complete replacement covers offsets %d to %d", lo, hi-1))
			delete(files, name)
		}
	}
	for _, name := range swaps {
		final := strings.TrimSuffix(name, segment.SwapSuffix)
		r.Actions = append(r.Actions, Action{Kind: Finish, Name: name, To: final, Reason: "the replacement is complete"})
		files[final] = name
	}
	return nil
}

// dropOrphans removes indexes whose log is not there.
func (files listing) dropOrphans(r *Report) {
	for _, name := range files.sorted() {
		base, suffix, ok := segment.ParseName(name)
		if !ok {
			continue
		}
		switch suffix {
		case segment.IndexSuffix, segment.TimeIndexSuffix, segment.TxnIndexSuffix:
			if _, has := files[segment.Name(base, segment.LogSuffix)]; !has {
				r.remove(files[name], "its log is not there")
				delete(files, name)
			}
		}
	}
}

// bases lists the segments, oldest first.
func (files listing) bases() []int64 {
	var bases []int64
	for name := range files {
		if base, suffix, ok := segment.ParseName(name); ok && suffix == segment.LogSuffix {
			bases = append(bases, base)
		}
	}
	sort.Slice(bases, func(i, j int) bool { return bases[i] < bases[j] })
	return bases
}

func (files listing) sorted() []string {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func (r *Report) remove(name, reason string) {
	r.Actions = append(r.Actions, Action{Kind: Remove, Name: name, Reason: reason})
}

// removeSometime is remove of what does no harm where it is.
func (r *Report) removeSometime(name, reason string) {
	r.Actions = append(r.Actions, Action{Kind: Remove, Name: name, Later: true, Reason: reason})
}

func (r *Report) count(s scanned) {
	r.ScannedBatches += s.batches
	r.ScannedBytes += s.bytes
}
