package consumer

import (
	"context"
	"slices"
	"time"

	"github.com/seglog/seglog/group/assign"
)

// prepare is before a join: what was read is committed and, unless partitions may
// be kept meanwhile, they are revoked.
func (c *Consumer) prepare(ctx context.Context) {
	if c.autoCommits() {
		c.commitQuietly(ctx, c.uncommitted())
	}
	if !c.opts.cooperative() {
		c.revoke(ctx, c.owned())
	}
}

// takeOver puts an assignment into effect.
func (c *Consumer) takeOver(ctx context.Context) {
	m := &c.mu.member
	m.arrived = false
	list, err := assign.ParseAssignment(m.answer)
	if err != nil {
		m.err, m.rejoin, m.retry = err, true, time.Now().Add(backoff)
		return
	}
	next := make(map[TopicPartition]bool, len(list))
	for _, tp := range list {
		next[tp] = true
	}
	revoked := slices.DeleteFunc(c.owned(), func(tp TopicPartition) bool { return next[tp] })
	if len(revoked) > 0 {
		if c.autoCommits() { // they were read on since the join
			c.commitQuietly(ctx, c.uncommitted(revoked...))
		}
		c.revoke(ctx, revoked)
		m.rejoin = true // so that others get them (KIP-429)
	}
	if m.lost {
		return
	}
	added := slices.DeleteFunc(slices.Clone(list), func(tp TopicPartition) bool { return c.mu.parts[tp] != nil })
	slices.SortFunc(added, inOrder)
	for _, tp := range added {
		c.add(tp)
	}
	m.previous = list
	c.listener(ctx, c.opts.Listener.Assigned, added)
}

// revoke tells the Listener, and then takes partitions away.
func (c *Consumer) revoke(ctx context.Context, list []TopicPartition) {
	if len(list) == 0 {
		return
	}
	if c.mu.mode == byGroup {
		c.listener(ctx, c.opts.Listener.Revoked, slices.Clone(list))
	}
	for _, tp := range list {
		c.drop(tp)
	}
}

// lose takes away all partitions, and tells the Listener that they were lost.
func (c *Consumer) lose(ctx context.Context) {
	m := &c.mu.member
	m.lost, m.previous = false, nil
	list := c.owned()
	for _, tp := range list {
		c.drop(tp)
	}
	told := c.opts.Listener.Lost
	if told == nil {
		told = c.opts.Listener.Revoked
	}
	if len(list) > 0 {
		c.listener(ctx, told, list)
	}
}
