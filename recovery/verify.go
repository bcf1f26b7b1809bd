package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/cespare/xxhash/v2"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// Verification is what Verify found.
type Verification struct {
	Report   *Report
	Segments int
	Batches  int64 // walked: VerifySeals walks none of a segment that its seal proves
	Records  int64 // in those
	Bytes    int64
	Seals    int // segments proven by their seal, too or alone
	// Faults are places where the files are not what was written.
	Faults []error
	// Notes are what opening the log will put right without loss: a tail torn
	// by a crash, indexes that are missing.
	Notes []string
}

// Verify walks every batch and every record of a log, and holds checksums,
// record bodies, indexes and seals against each other. It writes nothing.
// progress, if not nil, is told the bytes done so far and in all, by one
// goroutine at a time.
func Verify(ctx context.Context, cfg *segment.Config, progress func(done, total int64)) (*Verification, error) {
	return verify(ctx, cfg, progress, false)
}

// VerifySeals is Verify that looks at a segment with a seal no further if the
// xxhash64 of its whole log is the seal: then each byte is as it was when the
// segment was sealed. Of such a segment it does not read the indexes, which are
// derived. Segments without a seal, the newest always, are walked as by Verify, and
// so is one whose seal does not hold, to say where.
func VerifySeals(ctx context.Context, cfg *segment.Config, progress func(done, total int64)) (*Verification, error) {
	return verify(ctx, cfg, progress, true)
}

func verify(ctx context.Context, cfg *segment.Config, progress func(done, total int64), bySeal bool) (*Verification, error) {
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
	history, err := v.readEpochs(cfg)
	if err != nil {
		return nil, err
	}
	damaged := make(map[int64][]int64) // positions, by the segment's base
	for _, d := range r.Damage {
		damaged[d.Segment] = append(damaged[d.Segment], d.Position)
		v.Faults = append(v.Faults, d)
	}
	verifiers := make([]*verifier, len(r.Segments))
	shown := newShown(r.Segments, progress)
	for i, s := range r.Segments {
		verifiers[i] = &verifier{cfg: cfg, facts: s.Facts, swapped: s.Swapped, closed: i < len(r.Segments)-1 || r.Clean,
			bySeal: bySeal, damaged: damaged[s.Base] != nil, known: damaged[s.Base], summed: r.Foreign && damaged[s.Base] == nil, shown: shown,
			epochs: epochCheck{history: history, start: r.LogStart, latest: -1}}
	}
	if err := eachOnItsOwn(verifiers, func(w *verifier) error { return w.segment(ctx) }); err != nil {
		return nil, err
	}
	for _, w := range verifiers {
		v.Segments++
		v.Bytes += w.facts.Size
		v.Batches, v.Records, v.Seals = v.Batches+w.batches, v.Records+w.records, v.Seals+w.seals
		v.Faults = append(v.Faults, w.faults...)
	}
	return v, nil
}

// verifier verifies a segment.
type verifier struct {
	cfg     *segment.Config
	facts   segment.Facts
	swapped bool // see Segment
	closed  bool
	bySeal  bool    // a seal that holds is enough
	damaged bool    // damage was met in it
	known   []int64 // positions of damage that Inspect has reported
	summed  bool    // Inspect has just held all checksums against the batches
	shown   *shown
	told    int64 // bytes, to shown
	epochs  epochCheck

	batches, records int64
	seals            int
	faults           []error
}

func (w *verifier) name(suffix string) string {
	name := filepath.Join(w.cfg.Dir, segment.Name(w.facts.Base, suffix))
	if w.swapped {
		if _, err := w.cfg.FS.Stat(name + segment.SwapSuffix); err == nil {
			return name + segment.SwapSuffix
		}
	}
	return name
}

func (w *verifier) fault(err error) { w.faults = append(w.faults, err) }

// tell says that the segment is done up to position.
func (w *verifier) tell(position int64) {
	w.shown.add(position - w.told)
	w.told = position
}

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
		return w.unread(err)
	}
	defer func() { err = errors.Join(err, log.Unmap()) }()
	if w.bySeal && w.facts.HasSeal && !w.damaged {
		if proven, err := w.proven(ctx, log.Bytes()); proven || err != nil {
			return err
		}
	}
	ahead := readAhead(log.Bytes(), 0, w.facts.HasSeal)
	defer ahead.close()
	offsets, err := w.indexBytes(segment.IndexSuffix)
	if err != nil {
		return err
	}
	times, err := w.indexBytes(segment.TimeIndexSuffix)
	if err != nil {
		return err
	}
	walk := newIndexWalk(w.facts.Base, offsets, times)
	if err := w.walk(ctx, log.Bytes(), ahead, walk); err != nil {
		return err
	}
	if w.epochs.err != nil {
		w.fault(fmt.Errorf("%s: %w", w.name(segment.LogSuffix), w.epochs.err))
	}
	if !w.damaged { // else what indexes say of damaged bytes says nothing of them
		walk.end(w.facts, w.closed)
		if walk.offsetErr != nil {
			w.fault(fmt.Errorf("%s: %w", w.name(segment.IndexSuffix), walk.offsetErr))
		}
		if walk.timeErr != nil {
			w.fault(fmt.Errorf("%s: %w", w.name(segment.TimeIndexSuffix), walk.timeErr))
		}
	}
	sum, err := ahead.end()
	if err != nil {
		return err
	}
	w.tell(w.facts.Size)
	switch {
	case !w.facts.HasSeal:
	case sum != w.facts.Seal:
		w.fault(fmt.Errorf("%s: its xxhash64 is %016x, the seal is %016x", w.name(segment.LogSuffix), sum, w.facts.Seal))
	default:
		w.seals++
	}
	return nil
}

// proven says whether the segment's seal holds.
func (w *verifier) proven(ctx context.Context, log []byte) (bool, error) {
	d := xxhash.New()
	for at := 0; at < len(log); at += aheadStep {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		w.tell(int64(at))
		_, _ = d.Write(log[at:min(at+aheadStep, len(log))])
	}
	if d.Sum64() != w.facts.Seal {
		w.tell(0)
		return false, nil
	}
	w.tell(w.facts.Size)
	w.seals++
	return true, nil
}

// walk walks the log's batches, and their records. Behind damage it goes on
// where it can.
func (w *verifier) walk(ctx context.Context, log []byte, ahead *ahead, walk *indexWalk) error {
	parse := record.Parse
	if w.summed {
		parse = record.Verified
	}
	var d record.Decoder
	next := w.facts.Base
	for pos, n := int64(0), 0; pos < int64(len(log)); n++ {
		if n%256 == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			w.tell(pos)
		}
		ahead.batch(pos)
		b, err := parse(log[pos:])
		bad := pos
		if err == nil {
			bad, err = segment.CheckOrder(log, &b.BatchHeader, pos, next, w.facts.Next)
		}
		if err == nil {
			behind := pos + int64(b.Size)
			walk.batch(b.BatchHeader, pos)
			w.epochs.batch(&b.BatchHeader, pos)
			if err := record.Validate(b, &d); err != nil {
				w.damage(&segment.DamageError{Position: pos, Offset: next, Next: b.NextOffset(), NextPosition: behind, Err: err})
			}
			w.batches++
			w.records += int64(b.Count)
			next, pos = b.NextOffset(), behind
			continue
		}
		fault := &segment.DamageError{Position: pos, Offset: next, Next: -1, Err: err}
		w.damage(fault)
		after, at, ok := segment.Resync(log, bad, next, w.facts.Next)
		if !ok {
			return nil
		}
		next, pos = after.BaseOffset, at
		fault.Next, fault.NextPosition = next, pos
	}
	return nil
}

func (w *verifier) damage(d *segment.DamageError) {
	d.Path, d.Segment = w.name(segment.LogSuffix), w.facts.Base
	w.damaged = true
	if !slices.Contains(w.known, d.Position) {
		w.fault(d)
	}
}

// indexBytes is the content of an index, cut to whole entries. A missing one
// is derived when the log is opened, so it is no fault. The padding of an index
// that was not closed is taken off.
func (w *verifier) indexBytes(suffix string) ([]byte, error) {
	content, err := vfs.ReadFile(w.cfg.FS, w.name(suffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, w.unread(err)
	}
	if !w.closed {
		return content[:segment.DataEnd(content)+padding(segment.DataEnd(content), suffix)], nil
	}
	return content, nil
}

// unread is what an error of reading a file comes to. That the device does not
// deliver it is a fault of the file, and so is all that is said of what is in
// it; that it cannot be read now, for want of descriptors, is none.
func (w *verifier) unread(err error) error {
	if vfs.Unreadable(err) && !errors.Is(err, syscall.EIO) {
		return err
	}
	w.fault(err)
	return nil
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
	if got, err := f.Size(); err != nil {
		return nil, err
	} else if got < size {
		return nil, fmt.Errorf("%w: %s has %d bytes of %d", record.ErrCorrupt, name, got, size)
	}
	return f.Map(size, false)
}
