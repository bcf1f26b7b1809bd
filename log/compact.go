package log

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/retention/compact"
	"github.com/seglog/seglog/segment"
)

// ErrNotCompacted says that a log is not one to be compacted: Options.Compaction
// is nil.
var ErrNotCompacted = errors.New("log: Options.Compaction is not set, and compacting drops what has no key")

// compaction is what a log knows of its compactions.
type compaction struct {
	running chan struct{} // full while one is

	mu struct {
		sync.Mutex
		cleaned int64 // below it nothing is dirty; kept by checkpoints
		noted   int64 // see recovery.Checkpoint.CleanedNoted
		cut     int64 // where the log was cut since the running one began, or MaxInt64
		cancel  context.CancelCauseFunc
		closed  bool
	}
}

// begin makes a compaction the running one.
func (c *compaction) begin(ctx context.Context) (context.Context, error) {
	select {
	case c.running <- struct{}{}:
	case <-ctx.Done():
		return ctx, context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.closed {
		<-c.running
		return ctx, ErrClosed
	}
	ctx, c.mu.cancel = context.WithCancelCause(ctx)
	c.mu.cut = math.MaxInt64
	return ctx, nil
}

// end ends the running compaction.
func (c *compaction) end() {
	c.mu.Lock()
	c.mu.cancel(nil)
	c.mu.Unlock()
	<-c.running
}

// reached notes what the running compaction came to: nothing below firstDirty
// is dirty, but where the log was cut meanwhile.
func (c *compaction) reached(firstDirty int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.cleaned = min(firstDirty, c.mu.cut)
	c.mu.noted = max(c.mu.noted, c.mu.cleaned)
}

// cutAt notes that what is at and above offset is to be written anew.
func (c *compaction) cutAt(offset int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.cut, c.mu.cleaned = min(c.mu.cut, offset), min(c.mu.cleaned, offset)
}

// begins is told what recovery found. What the checkpoint says of compaction
// holds up to the first segment that is not as it was then.
func (c *compaction) begins(r *recovery.Report) {
	cleaned, noted := int64(0), r.Cleaned
	if r.Foreign && r.Cleaned <= r.End {
		cleaned = r.Cleaned
	}
	if k := r.Checkpoint; k != nil {
		noted = k.CleanedNoted
	}
	if k := r.Checkpoint; k != nil && k.Cleaned <= r.End {
		cleaned = k.Cleaned
		for _, s := range r.Segments {
			i, known := slices.BinarySearchFunc(k.Segments, s.Base, func(f segment.Facts, base int64) int { return cmp.Compare(f.Base, base) })
			if s.Base < cleaned && (!known || k.Segments[i].Size != s.Size) {
				cleaned = s.Base
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.cleaned, c.mu.noted = cleaned, noted
}

// cleaned is the offset below which nothing is dirty: 0 of a log that was never
// compacted.
func (c *compaction) cleaned() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.cleaned
}

// noted is how far a broker's note may say that it is.
func (c *compaction) noted() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.noted
}

// stop ends the running compaction, waits for it, and lets none begin.
func (c *compaction) stop() {
	c.mu.Lock()
	c.mu.closed = true
	if c.mu.cancel != nil {
		c.mu.cancel(ErrClosed)
	}
	c.mu.Unlock()
	c.running <- struct{}{}
	<-c.running
}

// Compact rewrites sealed segments so that of each key the newest record is
// left, by Options.Compaction, whether or not upkeep would find it worth it yet:
// see Dirty. If there is nothing to do the Result says why. See package compact
// for what goes. Offsets do not change, and those that go are passed over by
// readers. A log whose Options.Compaction is nil is ErrNotCompacted.
//
// Readers and appenders go on meanwhile; readers of what is replaced wait for
// the moment in which files are exchanged. A second call waits for the first. It
// returns early with the cause if ctx ends, and with ErrClosed if the log is
// closed; what was replaced until then stays so.
//
// How far it came is kept by the log's checkpoint, so that the next one reads
// what came behind, and of what is before only what it rewrites.
func (l *Log) Compact(ctx context.Context) (result compact.Result, err error) {
	began := time.Now()
	var synced []SyncEvent
	result, err = l.compact(ctx, &synced)
	l.tellSynced(synced)
	if err != nil || result.Rounds > 0 {
		tell(l, l.opts.Trace.Compacted, CompactEvent{Result: result, Took: time.Since(began), Err: err})
	}
	return result, err
}

// compact notes what was synced for the caller to tell of: a hook must not find a
// compaction running, or it could neither close the log nor compact it.
func (l *Log) compact(ctx context.Context, synced *[]SyncEvent) (result compact.Result, err error) {
	if err := l.compactable(); err != nil {
		return result, err
	}
	ctx, err = l.compaction.begin(ctx)
	if err != nil {
		return result, err
	}
	defer l.compaction.end()
	result.Plan, err = l.Dirty()
	result.FirstDirty, result.MappedTo = result.Plan.FirstDirty, result.Plan.FirstDirty
	if err != nil || result.Plan.Skip != "" {
		return result, err
	}
	// Only what is durable, and noted as such, is replaced.
	if err := l.settle(synced); err != nil {
		return result, err
	}
	result.Segments.Before, result.Bytes.Before = l.below(result.Plan.End)
	err = l.compactRounds(ctx, &result)
	result.Segments.After, result.Bytes.After = l.below(result.Plan.End)
	l.compaction.reached(result.FirstDirty)
	if err != nil {
		return result, err
	}
	return result, l.settle(synced)
}

// compactable says why the log is not to be compacted.
func (l *Log) compactable() error {
	if err := l.writable(); err != nil {
		return err
	}
	if l.settings.Load().Compaction == nil {
		return ErrNotCompacted
	}
	return nil
}

// Dirty says what a compaction would have to do now: what is dirty, whether
// upkeep would find it worth it, and if nothing can be compacted, why.
func (l *Log) Dirty() (compact.Plan, error) {
	options := l.settings.Load().Compaction
	if options == nil {
		return compact.Plan{}, ErrNotCompacted
	}
	state, err := l.compactState(l.compaction.cleaned())
	if err != nil {
		return compact.Plan{}, err
	}
	return options.Plan(state), nil
}

func (l *Log) settle(synced *[]SyncEvent) error {
	l.commit.acquire()
	err := l.checkpointHeld()
	*synced = append(*synced, l.giveUp()...)
	return err
}

// compactRounds does as many rounds as the map has to be filled.
func (l *Log) compactRounds(ctx context.Context, result *compact.Result) error {
	options := l.settings.Load().Compaction
	if options == nil {
		return ErrNotCompacted
	}
	seen := make(map[int64]bool)
	for result.MappedTo < result.Plan.End {
		segments := l.sealedBelow(result.Plan.End)
		if len(segments) == 0 {
			return nil // dropped in the meantime
		}
		round := compact.Round{Config: l.cfg, Segments: segments, FirstDirty: result.MappedTo, End: result.Plan.End,
			HighWatermark: l.HighWatermark(), Now: l.opts.Env.Now(), Options: *options, Aborted: *l.aborted.Load(),
			Producers: l.producersToKeep(), Seen: seen, NoSpill: result.NoSpill, Replace: l.replaceSegments}
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
			modified, err := l.modified(seg.Path())
			if err != nil {
				return s, err
			}
			s.Segments[i].MaxTime = modified.UnixMilli()
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
