package compact

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// copyAll is the second pass: it cleans every segment that begins below mapped,
// group by group, oldest first.
func (c *cleaner) copyAll(ctx context.Context) error {
	var facts []segment.Facts
	for _, s := range c.Segments {
		if s.Base() < c.mapped {
			facts = append(facts, s.Facts())
		}
	}
	var gc *groupCopy
	c.full = false
	c.pass(facts[0].Base, c.Seen, (*worker).judgeAll, func(j *chunk) error { return gc.chunk(j) })
	var buf []byte
	for _, g := range groups(facts, c.Config.Bytes, segment.MaxIndexBytes) {
		gc = &groupCopy{cleaner: c, group: g, facts: facts[g.from:g.to], buf: buf}
		if err := gc.run(ctx); err != nil {
			return fmt.Errorf("compacting segment %d: %w", facts[g.from].Base, err)
		}
		buf = gc.buf
	}
	c.tally.complete = true
	return nil
}

// groupCopy makes one segment of a group. As long as what is left of a group of
// one segment is the segment itself, nothing is written.
type groupCopy struct {
	*cleaner
	group  group
	facts  []segment.Facts
	buf    []byte
	out    *output // nil while nothing has changed
	same   int64   // bytes of the source that are left as they are
	aborts []index.AbortedTxn
	behind int64 // bytes of the sources not yet read
	ready  *Replacement
}

func (g *groupCopy) run(ctx context.Context) (err error) {
	for _, f := range g.facts {
		g.behind += f.Size
	}
	defer func() {
		if g.out != nil {
			g.buf = g.out.buf
			err = errors.Join(err, g.out.close())
		}
		if err != nil {
			err = errors.Join(err, g.discard())
		}
	}()
	if len(g.facts) > 1 {
		if err := g.start(); err != nil {
			return err
		}
	}
	for number := g.group.from; number < g.group.to; number++ {
		if err := g.walk(ctx, number, 0); err != nil {
			return err
		}
	}
	if g.out == nil {
		unchanged, err := g.sameTxns()
		if err != nil {
			return err
		}
		if unchanged {
			return nil
		}
		if err := g.startGuarded(); err != nil {
			return err
		}
	}
	return g.replace()
}

// chunk copies what is left of a chunk.
func (g *groupCopy) chunk(j *chunk) error {
	return g.main.each(j, func(b *batch) error { return g.batch(j, b) })
}

func (g *groupCopy) batch(j *chunk, b *batch) error {
	g.tally.read += int64(b.Size)
	g.behind -= int64(b.Size)
	if b.left != nothing && b.abort != nil {
		g.aborts = append(g.aborts, *b.abort)
	}
	// Times told from a delete horizon take more bytes. Where the segment would
	// outgrow what positions can tell, the batch stays as it is, dirty.
	if grown := b.to - b.from; b.left == thinned && grown > b.Size && g.size()+int64(grown)+g.behind > segment.MaxBytes {
		g.tally.undone = min(g.tally.undone, b.BaseOffset)
		b.left = all
	}
	if b.left == all && g.out == nil {
		g.same = b.position + int64(b.Size)
		return nil
	}
	if g.out == nil {
		if err := g.start(); err != nil {
			return err
		}
	}
	if b.left == nothing {
		return nil
	}
	raw := j.raw(b)
	h, err := record.ParseHeader(raw)
	if err != nil {
		return err
	}
	return g.out.add(raw, &h)
}

func (g *groupCopy) size() int64 {
	if g.out == nil {
		return g.same
	}
	return g.out.facts.Size
}

// start begins the output with what of the source stays the same.
func (g *groupCopy) start() error {
	base, size := g.facts[0].Base, int64(0)
	for _, f := range g.facts {
		size += f.Size
	}
	var err error
	if g.out, err = newOutput(g.Config, base, g.indexes.of(g.Config, base, size), g.buf); err != nil || g.same == 0 {
		return err
	}
	log, err := g.main.sources.log(g.group.from)
	if err != nil {
		return err
	}
	for rest := log[:g.same]; len(rest) > 0; {
		h, err := record.ParseHeader(rest)
		if err != nil {
			return err
		}
		if err := g.out.add(rest[:h.Size], &h); err != nil {
			return err
		}
		rest = rest[h.Size:]
	}
	return nil
}

// startGuarded is start where nothing had to be changed but an index.
func (g *groupCopy) startGuarded() (err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	return g.start()
}

// sameTxns says whether the transaction index of the only source is what the
// output's would be.
func (g *groupCopy) sameTxns() (bool, error) {
	base := g.facts[0].Base
	content, err := vfs.ReadFile(g.Config.FS, filepath.Join(g.Config.Dir, segment.Name(base, segment.TxnIndexSuffix)))
	if errors.Is(err, fs.ErrNotExist) {
		content, err = nil, nil
	}
	if err != nil {
		return false, err
	}
	have, err := index.DecodeTxns(content, base)
	return err == nil && slices.Equal(have, g.aborts), nil
}

// replace puts the output in the place of the sources.
func (g *groupCopy) replace() error {
	for _, a := range g.aborts {
		g.out.abort(a)
	}
	old := g.Segments[g.group.from:g.group.to]
	modified, err := g.modified(old[len(old)-1])
	if err != nil {
		return err
	}
	suffixes, err := g.out.finish(modified)
	if err != nil {
		return err
	}
	g.ready = g.replacement(suffixes)
	g.releasePins() // or the old files' memory would stay
	g.tally.replaced += len(old)
	return g.Replace(old, g.ready)
}

func (g *groupCopy) replacement(suffixes []string) *Replacement {
	r := &Replacement{cfg: g.Config, suffixes: suffixes, Facts: g.out.facts, Aborted: g.aborts}
	for _, f := range g.facts {
		r.old = append(r.old, f.Base)
	}
	return r
}

func (g *groupCopy) discard() error {
	if g.out == nil {
		return nil
	}
	if g.ready == nil {
		g.ready = g.replacement(nil)
	}
	return g.ready.Discard()
}

func (g *groupCopy) modified(s *segment.Segment) (time.Time, error) {
	info, err := g.Config.FS.Stat(s.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, ErrChanged // its memory is pinned, its file was removed
	}
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}
