package compact

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/seglog/seglog/internal/vfs"
)

// maxRounds is how many times the map may have to be filled before the keys are
// written to a file instead. A round reads all that is below what it maps, so
// the cost of rounds grows with the square of their number; partitions cost
// reading everything once more, and writing the keys.
const maxRounds = 3

// tooManyRounds says whether what is mapped is so little of the dirty part.
func (c *cleaner) tooManyRounds() bool {
	return c.End-c.FirstDirty > maxRounds*(c.mapped-c.FirstDirty)
}

// partition is the first pass of a log with more keys than the map has room for
// (a hash join as databases do it, of the log with itself). It writes the keys
// of all records, clean ones too, to a file in partitions by hash, and finds in
// each which records are superseded. All of the dirty part is mapped then.
//
// errTemporary says that it could not be done for want of a file.
func (c *cleaner) partition(ctx context.Context) (err error) {
	p, err := newPartitions(c.Config.FS, c.Config.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.remove()) }()
	records, err := c.spread(ctx, p)
	if err != nil {
		return err
	}
	m, err := newMarks(c.Config.FS, c.Config.Dir, records)
	if err != nil {
		return err
	}
	for i := range p.list {
		if err = c.markSuperseded(ctx, p, &p.list[i], m); err != nil {
			return errors.Join(err, m.remove())
		}
	}
	c.marks, c.mapped, c.newest, c.tally.spilled = m, c.End, nil, p.size
	return nil
}

// spread writes the keys of all records to p and counts the records.
func (c *cleaner) spread(ctx context.Context, p *partitions) (records int64, err error) {
	c.full = false
	c.pass(c.Segments[0].Base(), make(map[int64]bool), (*worker).list, func(j *chunk) error {
		for i, f := range j.found {
			end := len(j.keys)
			if i+1 < len(j.found) {
				end = int(j.found[i+1].place)
			}
			if err := p.add(f.hash, f.next-1, j.keys[f.place:end]); err != nil {
				return err
			}
		}
		for i := range j.batches {
			c.tally.read += int64(j.batches[i].Size)
		}
		return nil
	})
	for number, s := range c.Segments {
		if err := c.walk(ctx, number, 0); err != nil {
			return 0, fmt.Errorf("listing the keys of segment %d: %w", s.Base(), err)
		}
	}
	return c.ordinal, p.seal()
}

// list lists the keys of a chunk with the ordinals of their records.
func (w *worker) list(j *chunk) error {
	return w.each(j, func(b *batch) error {
		if b.aborted || b.Control() {
			return nil
		}
		if _, err := w.read(&b.Batch); err != nil {
			return err
		}
		for i := range w.records {
			key := w.records[i].Key
			if key == nil {
				continue
			}
			at := place(len(j.keys))
			j.keys = appendKey(j.keys, key)
			j.found = append(j.found, slot{hash: w.hash(key), next: b.ordinal + int64(i) + 1, place: at})
		}
		return nil
	})
}

// markSuperseded marks the records of a partition that have a later one of the
// same key. Where the map has no room for all keys it is filled again, from the
// first that found none on; what is met again then is only marked again.
func (c *cleaner) markSuperseded(ctx context.Context, p *partitions, t *partition, m *marks) (err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	var w entryWindow
	todo, left := p.entriesOf(t), t.entries
	for more := true; more; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		more = false
		c.newest.clear(left)
		for e, rest := todo, left; ; rest -= int64(w.n) {
			start := e
			if w.fill(&e, c.hash); w.n == 0 {
				break
			}
			c.newest.touched += c.newest.touch(w.hashes[:w.n])
			for i := range w.n {
				older, ok := c.newest.putKey(&e, &w, i)
				if ok && older >= 0 {
					m.mark(older)
				}
				if !ok && !more {
					more, todo, left = true, start.after(i), rest-int64(i)
				}
			}
		}
	}
	return nil
}

// entryWindow is entries to be looked up together.
type entryWindow struct {
	n        int
	ordinals [window]int64
	keys     [window]place
	hashes   [window]uint64
}

func (w *entryWindow) fill(e *entries, hash func([]byte) uint64) {
	for w.n = 0; w.n < window; w.n++ {
		ordinal, key, ok := e.next()
		if !ok {
			return
		}
		w.ordinals[w.n], w.keys[w.n], w.hashes[w.n] = ordinal, key, hash(e.keyAt(key))
	}
}

// putKey notes that entry i is the newest of its key, and returns the record
// that was until then, -1 for none. ok is false where that takes a slot and the
// map is full.
func (m *keyMap) putKey(e *entries, w *entryWindow, i int) (older int64, ok bool) {
	s := m.findKey(w.hashes[i], func(p place) bool { return bytes.Equal(e.keyAt(p), e.keyAt(w.keys[i])) })
	if s.next == 0 {
		if m.used >= m.limit {
			return -1, false
		}
		m.used++
	}
	older = s.next - 1
	*s = slot{hash: w.hashes[i], next: w.ordinals[i] + 1, place: w.keys[i]}
	return older, true
}
