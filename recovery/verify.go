package recovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// Verification is what Verify found.
type Verification struct {
	Report   *Report
	Segments int
	Batches  int64
	Records  int64
	Bytes    int64
	Seals    int // segments proven by their seal too
	// Faults are places where the files are not what was written.
	Faults []error
	// Notes are what opening the log will put right without loss: a tail torn
	// by a crash, indexes that are missing.
	Notes []string
}

// Verify walks every batch and every record of a log, and holds checksums,
// record bodies, indexes and seals against each other. It writes nothing.
// progress, if not nil, is told the bytes done so far and in all.
func Verify(ctx context.Context, cfg *segment.Config, progress func(done, total int64)) (*Verification, error) {
	r, err := Inspect(ctx, cfg, Options{})
	if err != nil {
		return nil, err
	}
	v := &Verification{Report: r}
	if r.Note != "" {
		v.Notes = append(v.Notes, r.Note)
	}
	for _, a := range r.Actions {
		v.Notes = append(v.Notes, a.String())
	}
	var total int64
	for _, s := range r.Segments {
		total += s.Size
	}
	at := make(map[int64]bool)
	for _, d := range r.Damage {
		at[d.Segment] = true
		v.Faults = append(v.Faults, d)
	}
	for i, s := range r.Segments {
		w := verifier{v: v, cfg: cfg, facts: s.Facts, closed: i < len(r.Segments)-1 || r.Clean, at: at, summed: r.Foreign && !at[s.Base],
			progress: func(n int64) {
				if progress != nil {
					progress(v.Bytes+n, total)
				}
			}}
		if err := w.segment(ctx); err != nil {
			return nil, err
		}
		v.Segments++
		v.Bytes += s.Size
		w.progress(0)
	}
	return v, nil
}

type verifier struct {
	v        *Verification
	cfg      *segment.Config
	facts    segment.Facts
	closed   bool
	at       map[int64]bool // segments in which damage was met
	summed   bool           // Inspect has just held all checksums against the batches
	progress func(done int64)
}

func (w *verifier) name(suffix string) string {
	return filepath.Join(w.cfg.Dir, segment.Name(w.facts.Base, suffix))
}

func (w *verifier) fault(err error) { w.v.Faults = append(w.v.Faults, err) }

func (w *verifier) segment(ctx context.Context) (err error) {
	defer func() {
		if errors.Is(err, vfs.ErrFault) {
			w.fault(fmt.Errorf("%s: %w", w.name(segment.LogSuffix), err))
			err = nil
		}
	}()
	defer vfs.Unguard(vfs.Guard(), &err)
	if w.facts.Size == 0 {
		return nil
	}
	log, err := mapped(w.cfg.FS, w.name(segment.LogSuffix), w.facts.Size)
	if err != nil {
		w.fault(err)
		return nil
	}
	defer func() { err = errors.Join(err, log.Unmap()) }()
	var sum uint64
	hashed := beside(func() error {
		if w.facts.HasSeal {
			sum = xxhash.Sum64(log.Bytes())
		}
		return nil
	})
	defer func() { _ = hashed() }() // before it is unmapped
	walk := newIndexWalk(w.facts.Base, w.indexBytes(segment.IndexSuffix), w.indexBytes(segment.TimeIndexSuffix))
	if err := w.batches(ctx, log.Bytes(), walk); err != nil {
		return err
	}
	if w.at[w.facts.Base] {
		walk = &indexWalk{} // what indexes say of damaged bytes says nothing of them
	} else {
		walk.end(w.facts, w.closed)
	}
	if walk.offsetErr != nil {
		w.fault(fmt.Errorf("%s: %w", w.name(segment.IndexSuffix), walk.offsetErr))
	}
	if walk.timeErr != nil {
		w.fault(fmt.Errorf("%s: %w", w.name(segment.TimeIndexSuffix), walk.timeErr))
	}
	if err := hashed(); err != nil || !w.facts.HasSeal {
		return err
	}
	if sum != w.facts.Seal {
		w.fault(fmt.Errorf("%s: its xxhash64 is %016x, the seal is %016x", w.name(segment.LogSuffix), sum, w.facts.Seal))
		return nil
	}
	w.v.Seals++
	return nil
}

// batches walks the log. Behind damage it goes on where it can.
func (w *verifier) batches(ctx context.Context, log []byte, walk *indexWalk) (err error) {
	bodies := validateBeside(log)
	var faults []*segment.DamageError
	defer func() {
		inside, failed := bodies.end()
		faults = append(faults, inside...)
		slices.SortFunc(faults, func(a, b *segment.DamageError) int { return cmp.Compare(a.Position, b.Position) })
		for _, f := range faults {
			f.Path, f.Segment = w.name(segment.LogSuffix), w.facts.Base
			w.at[w.facts.Base] = true
			w.fault(f)
		}
		err = errors.Join(err, failed)
	}()
	parse := record.Parse
	if w.summed {
		parse = record.Verified
	}
	next := w.facts.Base
	for pos, n := int64(0), 0; pos < int64(len(log)); n++ {
		if n%256 == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			w.progress(pos)
		}
		b, err := parse(log[pos:])
		if err == nil && b.BaseOffset < next {
			err = fmt.Errorf("%w: base offset %d, want at least %d", record.ErrCorrupt, b.BaseOffset, next)
		}
		if err == nil && b.NextOffset() > w.facts.Next {
			err = fmt.Errorf("%w: last offset %d, but the segment ends at %d", record.ErrCorrupt, b.LastOffset(), w.facts.Next-1)
		}
		if err == nil {
			walk.batch(b.BatchHeader, pos)
			bodies.add(b, pos, next)
			w.v.Batches++
			w.v.Records += int64(b.Count)
			next, pos = b.NextOffset(), pos+int64(b.Size)
			continue
		}
		fault := damageAt(log, pos, next, err)
		faults = append(faults, fault)
		after, at, ok := segment.Resync(log, pos, next)
		if !ok {
			return nil
		}
		next, pos = after.BaseOffset, at
	}
	return nil
}

// damageAt is a fault of the bytes at pos, where offset next is due.
func damageAt(log []byte, pos, next int64, err error) *segment.DamageError {
	fault := &segment.DamageError{Position: pos, Offset: next, Next: -1, Err: err}
	if after, _, ok := segment.Resync(log, pos, next); ok {
		fault.Next = after.BaseOffset
	}
	return fault
}

// indexBytes is the content of an index, cut to whole entries. A missing one
// is derived when the log is opened, so it is no fault. The padding of an index
// that was not closed is taken off.
func (w *verifier) indexBytes(suffix string) []byte {
	content, err := vfs.ReadFile(w.cfg.FS, w.name(suffix))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.fault(err)
		}
		return nil
	}
	if !w.closed {
		return content[:lastNonZero(content)+padding(lastNonZero(content), suffix)]
	}
	return content
}

// padding completes the last entry of an index whose trailing zeros were cut.
func padding(n int, suffix string) int {
	entry := 8
	if suffix == segment.TimeIndexSuffix {
		entry = 12
	}
	return (entry - n%entry) % entry
}

func mapped(fsys vfs.FS, name string, size int64) (vfs.Mapping, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if got, err := f.Size(); err != nil || got < size {
		return nil, errors.Join(err, fmt.Errorf("%w: %s has %d bytes of %d", record.ErrCorrupt, name, got, size))
	}
	return f.Map(size, false)
}
