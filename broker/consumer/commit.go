package consumer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/group"
	"github.com/seglog/seglog/group/assign"
)

// Offset is a committed one: where to go on, so that of the next record.
type Offset struct {
	Offset   int64
	Metadata string // the caller's own, offset.metadata.max.bytes long at most
}

// Offsets are those of partitions.
type Offsets map[TopicPartition]Offset

// CommitSync commits offsets, or if they are nil the positions of all partitions
// that are the consumer's. When it returns they are as safe as what is produced,
// and are where a member begins that gets the partition.
//
// Positions in a topic that is gone are left out. Of given offsets that are refused
// (UNKNOWN_TOPIC_OR_PARTITION, OFFSET_METADATA_TOO_LARGE) an error is returned, and
// the others are committed. ErrCommitFailed says that none were, and
// REBALANCE_IN_PROGRESS that none were as a rebalance waits for the next Poll. A
// coordinator that is being loaded is waited for, no longer than ctx.
func (c *Consumer) CommitSync(ctx context.Context, offsets Offsets) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.closed {
		return ErrClosed
	}
	c.tellCommitted()
	if offsets == nil {
		return c.commitSync(ctx, c.positions())
	}
	list, err := c.given(offsets)
	return errors.Join(err, c.commitSync(ctx, list))
}

// CommitAsync is CommitSync that waits for nothing, and does not try again. told,
// if not nil, is called by a later Poll, CommitSync or Close, in the order of the
// calls, with what was to be committed.
func (c *Consumer) CommitAsync(offsets Offsets, told func(Offsets, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	var list []toCommit
	if offsets == nil {
		list = c.positions()
		offsets = make(Offsets, len(list))
		for _, o := range list {
			offsets[o.tp] = Offset{Offset: o.offset, Metadata: o.metadata}
		}
	} else {
		list, err = c.given(offsets)
	}
	a := &asyncCommit{offsets: offsets, told: told, err: err}
	if c.mu.closed {
		a.err, list = ErrClosed, nil
	}
	a.attempt = c.send(list)
	c.mu.async = append(c.mu.async, a)
	c.nudge()
}

// asyncCommit is a commit that somebody is to be told of.
type asyncCommit struct {
	attempt
	offsets Offsets
	told    func(Offsets, error)
	err     error // of what was not sent
}

// tellCommitted calls the funcs of commits that are done.
func (c *Consumer) tellCommitted() {
	for len(c.mu.async) > 0 {
		a := c.mu.async[0]
		if a.answered() {
			c.mu.async = c.mu.async[1:]
			err := errors.Join(a.err, c.result(a.attempt))
			switch {
			case a.told != nil:
				c.outside(func() { a.told(a.offsets, err) })
			case err != nil:
				c.opts.Logger.Warn("consumer: CommitAsync", "group", c.group, "error", err)
			}
			continue
		}
		return
	}
}

// toCommit is an offset to commit, in the topic of that id.
type toCommit struct {
	tp       TopicPartition
	at       *broker.Partition
	offset   int64
	metadata string
}

// positions are those of all partitions that have one, in a topic that was there.
func (c *Consumer) positions(only ...TopicPartition) (list []toCommit) {
	for _, p := range c.mu.order {
		if p.positioned && p.at != nil && (len(only) == 0 || slices.Contains(only, p.tp)) {
			list = append(list, toCommit{tp: p.tp, at: p.at, offset: p.position})
		}
	}
	return list
}

// uncommitted are positions that auto commit has to commit. A member's offsets
// are kept as long as its group subscribes to the topic; of those that were
// assigned by hand the group forgets what was long not committed.
func (c *Consumer) uncommitted(only ...TopicPartition) []toCommit {
	return slices.DeleteFunc(c.positions(only...), func(o toCommit) bool {
		return c.mu.mode == byGroup && c.mu.parts[o.tp].committed == o.offset
	})
}

// given are offsets of the caller's, but for those that cannot be committed.
func (c *Consumer) given(offsets Offsets) (list []toCommit, err error) {
	for tp, o := range offsets {
		at, failure := c.b.Partition(tp.Topic, tp.Partition)
		if failure == nil && o.Offset < 0 {
			failure = errors.New("an offset below 0")
		}
		if failure != nil {
			err = errors.Join(err, fmt.Errorf("consumer: committing %d of %s-%d: %w", o.Offset, tp.Topic, tp.Partition, failure))
			continue
		}
		list = append(list, toCommit{tp, at, o.Offset, o.Metadata})
	}
	slices.SortFunc(list, func(a, b toCommit) int { return inOrder(a.tp, b.tp) })
	return list, err
}

// attempt is a commit that was sent.
type attempt struct {
	list       []toCommit
	generation int32
	reply      chan []group.Committed // nil: nothing was sent
	failed     error
}

func (a *attempt) answered() bool { return a.reply == nil || len(a.reply) > 0 }

// send asks the coordinator to commit. Topics that were deleted meanwhile are left
// out: that is looked at when nobody can delete their offsets, since a topic is
// marked before its offsets are deleted.
func (c *Consumer) send(list []toCommit) attempt {
	m := &c.mu.member
	a := attempt{generation: m.generation}
	r := group.CommitRequest{Version: 9, Group: c.group, Generation: assign.NoGeneration}
	switch {
	case len(list) == 0:
		return a
	case c.group == "":
		a.failed = ErrNoGroup
		return a
	case c.mu.mode == byGroup && m.generation == assign.NoGeneration:
		a.failed = ErrCommitFailed
		return a
	case c.mu.mode == byGroup:
		r.MemberID, r.InstanceID, r.Generation = m.id, c.instance(), m.generation
	}
	all := make([]group.Commit, len(list))
	for i, o := range list {
		all[i] = group.Commit{TopicPartition: o.tp, TopicID: o.at.Topic().ID(), Offset: o.offset,
			LeaderEpoch: o.at.EpochOf(o.offset - 1), Metadata: o.metadata}
	}
	reply := make(chan []group.Committed, 1)
	a.failed = c.coordinator(func(k *group.Coordinator, now time.Time) {
		for i, o := range list {
			if !o.at.Topic().Deleted() {
				a.list, r.Offsets = append(a.list, o), append(r.Offsets, all[i])
			}
		}
		if len(a.list) == 0 {
			reply <- nil
			return
		}
		k.Commit(now, r, func(answers []group.Committed) { reply <- answers; c.nudge() })
	})
	if a.failed == nil {
		a.reply = reply
	}
	return a
}

// result is what came of a commit that was answered.
func (c *Consumer) result(a attempt) error {
	if a.failed != nil || a.reply == nil {
		return a.failed
	}
	m := &c.mu.member
	var err error
	for i, answer := range <-a.reply {
		o := a.list[i]
		switch code := answer.Code; {
		case code == group.None:
			if p := c.mu.parts[o.tp]; p != nil && p.at == o.at {
				p.committed = o.offset
			}
		case c.mu.mode == byGroup && (code == group.UnknownMemberID || code == group.IllegalGeneration ||
			code == group.GroupIDNotFound || code == group.FencedInstanceID):
			if m.phase != idle && code != group.FencedInstanceID {
				// Its join may have been answered, in another generation: the answer will
				// tell what it is now.
				return coded("committing", group.RebalanceInProgress)
			}
			if a.generation == m.generation {
				c.setBack(code, "a commit")
				c.nudge()
			}
			return fmt.Errorf("%w (%s)", ErrCommitFailed, code)
		case c.mu.mode == byGroup && code == group.RebalanceInProgress:
			if a.generation == m.generation && m.phase == idle && !m.arrived {
				m.rejoin = true
				c.nudge()
			}
			return coded("committing", code)
		case passing(code):
			return coded("committing", code)
		default:
			err = errors.Join(err, coded(fmt.Sprintf("committing %d of %s-%d", o.offset, o.tp.Topic, o.tp.Partition), code))
		}
	}
	return err
}

// commitSync commits, and tries again where that may help.
func (c *Consumer) commitSync(ctx context.Context, list []toCommit) error {
	for {
		a := c.send(list)
		if !a.answered() {
			if err := c.await(ctx, &a); err != nil {
				return err
			}
		}
		err := c.result(a)
		switch {
		case err == nil || !passing(codeOf(err)):
			return err
		case c.b.Closed():
			return broker.ErrClosed
		}
		c.mu.Unlock()
		ended := pause(ctx)
		c.mu.Lock()
		if ended != nil {
			return errors.Join(ended, err)
		}
	}
}

func (c *Consumer) await(ctx context.Context, a *attempt) error {
	c.mu.Unlock()
	defer c.mu.Lock()
	select {
	case answers := <-a.reply:
		a.reply <- answers
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// autoCommits says that Poll commits by itself.
func (c *Consumer) autoCommits() bool { return c.opts.AutoCommit != NoAutoCommit && c.group != "" }

// autoCommit commits what earlier Polls returned, when it is time.
func (c *Consumer) autoCommit(ctx context.Context, now time.Time) {
	if !c.autoCommits() || now.Before(c.mu.commitDue) {
		return
	}
	if c.mu.commitDue.IsZero() {
		c.mu.commitDue = now.Add(c.opts.AutoCommit)
		return
	}
	c.mu.commitDue = now.Add(c.opts.AutoCommit)
	c.commitQuietly(ctx, c.uncommitted())
}

// commitQuietly commits once: what does not work is tried again by who comes next.
func (c *Consumer) commitQuietly(ctx context.Context, list []toCommit) {
	a := c.send(list)
	if !a.answered() && c.await(ctx, &a) != nil {
		return
	}
	if err := c.result(a); err != nil {
		c.opts.Logger.Warn("consumer: auto commit", "group", c.group, "error", err)
		c.mu.commitDue = time.Now().Add(min(backoff, c.opts.AutoCommit))
	}
}

// Committed are the group's committed offsets of these partitions, of those that
// have one, whoever has committed them. A coordinator that is being loaded is
// waited for, no longer than ctx.
func (c *Consumer) Committed(ctx context.Context, partitions ...TopicPartition) (Offsets, error) {
	if c.group == "" {
		return nil, ErrNoGroup
	}
	for {
		list, err := c.fetchCommitted(partitions)
		offsets := make(Offsets)
		for _, f := range list {
			switch {
			case f.Code != group.None:
				err = errors.Join(err, coded("the committed offset", f.Code))
			case f.Offset.Offset >= 0:
				offsets[f.TopicPartition] = Offset{f.Offset.Offset, f.Metadata}
			}
		}
		if err == nil {
			return offsets, nil
		}
		switch {
		case !passing(codeOf(err)):
			return nil, err
		case c.b.Closed():
			return nil, broker.ErrClosed
		}
		if ended := pause(ctx); ended != nil {
			return nil, errors.Join(ended, err)
		}
	}
}
