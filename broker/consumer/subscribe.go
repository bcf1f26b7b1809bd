package consumer

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/seglog/seglog/broker"
)

// mode is who says what partitions are read.
type mode int

const (
	nobody   mode = iota
	byGroup       // Subscribe
	byCaller      // Assign
)

// subscription is what topics are asked for: by name, or those that match.
type subscription struct {
	names   []string // in order, each once
	pattern *regexp.Regexp
}

// Subscribe has the group assign partitions of these topics, instead of those
// subscribed to before. It takes effect with the next Poll. Topics need not be
// there yet.
func (c *Consumer) Subscribe(topics ...string) error {
	names := slices.Clone(topics)
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 || names[0] == "" {
		return errors.New("consumer: Subscribe wants the names of topics; Unsubscribe ends a subscription")
	}
	return c.subscribe(subscription{names: names})
}

// SubscribePattern has the group assign partitions of all topics that the pattern
// matches, those that are created later included, but for the topics that
// coordinators keep their state in (exclude.internal.topics).
func (c *Consumer) SubscribePattern(pattern *regexp.Regexp) error {
	if pattern == nil {
		return errors.New("consumer: SubscribePattern wants a pattern")
	}
	return c.subscribe(subscription{pattern: pattern})
}

func (c *Consumer) subscribe(s subscription) error {
	if err := c.begin(); err != nil {
		return err
	}
	defer c.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.group == "":
		return ErrNoGroup
	case c.mu.mode == byCaller:
		return ErrMode
	}
	c.mu.mode, c.mu.subscription = byGroup, s
	c.mu.member.rejoin = true
	return nil
}

// subscribed are the topics that are asked for now, in order.
func (c *Consumer) subscribed() []string {
	s := &c.mu.subscription
	if s.pattern == nil {
		return s.names
	}
	names := []string{}
	for _, t := range c.b.Topics() {
		if !broker.Internal(t.Name()) && s.pattern.MatchString(t.Name()) {
			names = append(names, t.Name())
		}
	}
	return names
}

// Unsubscribe ends a subscription, as Close does, or what was assigned by hand.
// The consumer can subscribe or be assigned partitions again.
func (c *Consumer) Unsubscribe(ctx context.Context) error {
	if err := c.begin(); err != nil {
		return err
	}
	defer c.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.giveUp(ctx)
	c.mu.mode, c.mu.subscription = nobody, subscription{}
	return err
}

// Assign has the consumer read these partitions, and no others, without being a
// member of the group. They need not be there yet. What it committed before stays,
// and what was assigned before and is again keeps its position. Positions of the
// others are committed, unless with NoAutoCommit.
func (c *Consumer) Assign(partitions ...TopicPartition) error {
	for _, tp := range partitions {
		if tp.Topic == "" || tp.Partition < 0 {
			return fmt.Errorf("consumer: Assign: %q is no topic, or %d no partition", tp.Topic, tp.Partition)
		}
	}
	if err := c.begin(); err != nil {
		return err
	}
	defer c.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.mode == byGroup {
		return ErrMode
	}
	c.mu.mode = byCaller
	if c.autoCommits() {
		c.commitQuietly(context.Background(), c.uncommitted())
	}
	for _, tp := range c.owned() {
		if !slices.Contains(partitions, tp) {
			c.drop(tp)
		}
	}
	for _, tp := range partitions {
		c.add(tp)
	}
	return nil
}

// Assignment is what partitions are the consumer's now, in order.
func (c *Consumer) Assignment() []TopicPartition {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.owned()
}
