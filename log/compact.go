package log

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/seglog/seglog/retention/compact"
	"github.com/seglog/seglog/segment"
)

// compaction is what a log knows of its compactions.
type compaction struct {
	running sync.Mutex // one at a time

	mu struct {
		sync.Mutex
		known      bool  // firstDirty is, by a compaction since Open
		firstDirty int64 // as Result.FirstDirty
		isCut      bool  // the log was cut since then, at cut or above
		cut        int64
		cancel     context.CancelCauseFunc
		closed     bool
	}
}

// begin makes a compaction the running one. given is where the caller believes
// that it has to begin.
func (c *compaction) begin(ctx context.Context, given int64) (_ context.Context, firstDirty int64, err error) {
	c.running.Lock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.closed {
		c.running.Unlock()
		return ctx, 0, ErrClosed
	}
	ctx, c.mu.cancel = context.WithCancelCause(ctx)
	if c.mu.known {
		given = c.mu.firstDirty
	}
	if c.mu.isCut {
		given = min(given, c.mu.cut)
	}
	return ctx, given, nil
}

// end notes what the running compaction came to.
func (c *compaction) end(r *compact.Result) {
	c.mu.Lock()
	c.mu.cancel(nil)
	if r.Rounds > 0 {
		if c.mu.isCut { // perhaps while it ran
			r.FirstDirty = min(r.FirstDirty, c.mu.cut)
		}
		c.mu.known, c.mu.firstDirty, c.mu.isCut = true, r.FirstDirty, false
	}
	c.mu.Unlock()
	c.running.Unlock()
}

// cutAt notes that what is at and above offset is to be written anew.
func (c *compaction) cutAt(offset int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.mu.isCut || offset < c.mu.cut {
		c.mu.isCut, c.mu.cut = true, offset
	}
}

// stop ends the running compaction, waits for it, and lets none begin.
func (c *compaction) stop() {
	c.mu.Lock()
	c.mu.closed = true
	if c.mu.cancel != nil {
		c.mu.cancel(ErrClosed)
	}
	c.mu.Unlock()
	c.running.Lock()
	//lint:ignore SA2001 waiting is all there is to do
	c.running.Unlock()
}

// Compact rewrites sealed segments so that of each key the newest record is
// left, if o says that it is worth it; the Result says why if it is not. See
// package compact for what goes. Offsets do not change, and those that go are
// passed over by readers.
//
// Readers and appenders go on meanwhile; they wait for the moment in which files
// are exchanged. A second call waits for the first. It returns early with the
// cause if ctx ends, and with ErrClosed if the log is closed; what was replaced
// until then stays so.
//
// Where the part begins that was never compacted is known from the last call, or
// else is o.FirstDirty: whoever keeps Result.FirstDirty saves the next process
// from reading all of it.
func (l *Log) Compact(ctx context.Context, o compact.Options) (result compact.Result, err error) {
	if o, err = o.WithDefaults(); err != nil {
		return result, err
	}
	if err := l.writable(); err != nil {
		return result, err
	}
	ctx, firstDirty, err := l.compaction.begin(ctx, o.FirstDirty)
	if err != nil {
		return result, err
	}
	defer l.compaction.end(&result)
	state, err := l.compactState(firstDirty)
	if err != nil {
		result.FirstDirty = firstDirty
		return result, err
	}
	result.Plan = o.Plan(state)
	result.FirstDirty, result.MappedTo = result.Plan.FirstDirty, result.Plan.FirstDirty
	if result.Plan.Skip != "" {
		return result, nil
	}
	// Only what is durable, and noted as such, is replaced.
	if err := l.settle(); err != nil {
		return result, err
	}
	result.Segments.Before, result.Bytes.Before = l.below(result.Plan.End)
	err = l.compactRounds(ctx, o, &result)
	result.Segments.After, result.Bytes.After = l.below(result.Plan.End)
	return result, err
}

func (l *Log) settle() error {
	l.commit.acquire()
	defer l.release()
	return l.checkpointHeld()
}

// compactRounds does as many rounds as the map has to be filled.
func (l *Log) compactRounds(ctx context.Context, o compact.Options, result *compact.Result) error {
	seen := make(map[int64]bool)
	for result.MappedTo < result.Plan.End {
		segments := l.sealedBelow(result.Plan.End)
		if len(segments) == 0 {
			return nil // dropped in the meantime
		}
		round := compact.Round{Config: l.cfg, Segments: segments, FirstDirty: result.MappedTo, End: result.Plan.End,
			HighWatermark: l.HighWatermark(), Now: l.opts.Env.Now(), Options: o, Aborted: *l.aborted.Load(),
			Producers: l.producersToKeep(), Seen: seen, Replace: l.replaceSegments}
		r, err := round.Run(ctx)
		result.Add(r)
		if errors.Is(err, compact.ErrChanged) || errors.Is(err, segment.ErrGone) {
			result.Plan.EndedBy = compact.ChangedBeneath
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compactState is what a plan is made of.
func (l *Log) compactState(firstDirty int64) (compact.State, error) {
	s := compact.State{LogStart: l.First(), LastStable: l.LastStable(), FirstDirty: firstDirty, Now: l.opts.Env.Now()}
	all := l.set.Load().all()
	s.LogEnd = l.End()
	s.Segments = make([]compact.Segment, len(all))
	for i, seg := range all {
		s.Segments[i] = compact.Segment{Base: seg.Base(), Bytes: seg.Size(), FirstTime: seg.FirstTime(), MaxTime: seg.MaxTime()}
		if seg.MaxTime() < 0 && i < len(all)-1 {
			info, err := l.cfg.FS.Stat(seg.Path())
			if err != nil {
				return s, err
			}
			s.Segments[i].MaxTime = info.ModTime().UnixMilli()
		}
	}
	return s, nil
}

// sealedBelow lists the segments that begin below end, which is at most the
// active one's base.
func (l *Log) sealedBelow(end int64) []*segment.Segment {
	all := l.set.Load().all()
	all = all[:len(all)-1]
	n, _ := slices.BinarySearchFunc(all, end, func(s *segment.Segment, end int64) int { return int(min(max(s.Base()-end, -1), 1)) })
	return all[:n]
}

func (l *Log) below(end int64) (segments, bytes int64) {
	for _, s := range l.sealedBelow(end) {
		segments, bytes = segments+1, bytes+s.Size()
	}
	return segments, bytes
}

// producersToKeep is what compaction must leave to be found of producers.
func (l *Log) producersToKeep() map[int64]compact.Producer {
	list := l.Producers()
	keep := make(map[int64]compact.Producer, len(list))
	for _, p := range list {
		keep[p.ID] = compact.Producer{LastOffset: p.LastOffset, Epoch: p.Epoch}
	}
	return keep
}
