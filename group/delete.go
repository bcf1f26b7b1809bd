package group

import (
	"slices"
	"time"

	"github.com/seglog/seglog/internal/coordinator"
)

// DeleteOffsets is an OffsetDelete of partitions which exist. reply is called
// once, when it is durable, with one answer for each partition in their order;
// the code is that of all, and then there are none.
func (c *Coordinator) DeleteOffsets(now time.Time, group string, partitions []TopicPartition, reply func([]Committed, Code)) {
	c.now = now
	g, code := c.find(group)
	if code == UnknownMemberID {
		code = GroupIDNotFound
	}
	if code == None && g.state != Empty && g.protocolType != consumers {
		code = NonEmptyGroup
	}
	if code != None {
		reply(nil, code)
		return
	}
	var answers []Committed
	gone := make(map[TopicPartition]bool)
	for _, tp := range partitions {
		a := Committed{TopicPartition: tp}
		if g.subscribes(tp.Topic) {
			a.Code = GroupSubscribedToTopic
		} else if slices.Contains(g.offsets.known(), tp) {
			gone[tp] = true
		}
		answers = append(answers, a)
	}
	c.drop(now, g, inOrder(gone), func(code Code) {
		if code != None {
			reply(nil, code)
			return
		}
		reply(answers, None)
	})
}

// DeleteTopic deletes the offsets of a topic that is gone, in all groups.
func (c *Coordinator) DeleteTopic(now time.Time, topic string) {
	c.now = now
	for _, g := range c.inOrder() {
		gone := slices.DeleteFunc(g.offsets.known(), func(tp TopicPartition) bool { return tp.Topic != topic })
		c.drop(now, g, gone, func(Code) {})
	}
}

// drop writes tombstones of offsets, and forgets them when those are durable.
func (c *Coordinator) drop(now time.Time, g *group, gone []TopicPartition, done func(Code)) {
	if len(gone) == 0 {
		done(None)
		return
	}
	c.append(now, g.tombstones(gone), func(first int64, code Code) {
		if code == None {
			for i, tp := range gone {
				g.offsets.drop(tp, first+int64(i))
			}
		}
		done(ofLog(code))
	})
}

func (g *group) tombstones(gone []TopicPartition) (records []Record) {
	for _, tp := range gone {
		records = append(records, Record{Key: g.offsetKey(tp)})
	}
	return records
}

// Deleted is what became of a group.
type Deleted struct {
	Group string
	Code  Code
}

// Delete deletes groups without members and their offsets, those of open
// transactions too. reply is called once, when all is durable, with one answer
// for each different name.
func (c *Coordinator) Delete(now time.Time, groups []string, reply func([]Deleted)) {
	c.now = now
	var answers []Deleted
	for _, id := range groups {
		if !slices.ContainsFunc(answers, func(d Deleted) bool { return d.Group == id }) {
			answers = append(answers, Deleted{Group: id})
		}
	}
	open := 1
	finish := func() {
		if open--; open == 0 {
			reply(answers)
		}
	}
	for i := range answers {
		a := &answers[i]
		g := c.groups[a.Group]
		switch code := c.serving(); {
		case code != None:
			a.Code = code
		case g == nil:
			a.Code = GroupIDNotFound
		case g.deleting:
			a.Code = CoordinatorLoadInProgress
		case g.state != Empty:
			a.Code = NonEmptyGroup
		default:
			open++
			c.remove(now, g, func(code Code) {
				a.Code = code
				finish()
			})
		}
	}
	finish()
}

// remove writes the tombstones of a group and all that is in it, as one batch.
// Until they are durable nobody comes in.
func (c *Coordinator) remove(now time.Time, g *group, done func(Code)) {
	g.deleting = true
	records := append(g.tombstones(g.offsets.known()), Record{Key: coordinator.AppendGroupKey(nil, g.id)})
	c.append(now, records, func(_ int64, code Code) {
		g.deleting = false
		if code == None && c.groups[g.id] == g {
			delete(c.groups, g.id)
		}
		done(ofLog(code))
	})
}

// expireEvery deletes old offsets, again and again.
func (c *Coordinator) expireEvery(now time.Time) {
	c.timers.set(now.Add(c.config.OffsetsRetentionCheck), func(now time.Time) {
		c.expire(now)
		c.expireEvery(now)
	})
}

// expire deletes the offsets that have been kept long enough, and the groups
// which are then without anything.
func (c *Coordinator) expire(now time.Time) {
	for _, g := range c.inOrder() {
		if g.deleting {
			continue
		}
		var gone []TopicPartition
		for _, tp := range inOrder(g.offsets.committed) {
			if g.expired(tp, c.config.OffsetsRetention, now) {
				gone = append(gone, tp)
			}
		}
		nothing := len(gone) == len(g.offsets.committed) && len(g.offsets.pending) == 0 && len(g.offsets.inFlight) == 0
		if g.state == Empty && nothing && len(g.pending) == 0 {
			c.remove(now, g, func(Code) {})
		} else {
			c.drop(now, g, gone, func(Code) {})
		}
	}
}

// expired says whether an offset has been kept long enough: since the group
// became empty, or since its commit where nobody uses it.
func (g *group) expired(tp TopicPartition, retention time.Duration, now time.Time) bool {
	o := g.offsets.committed[tp]
	if g.offsets.inFlight[tp] > 0 || g.offsets.unstable(tp) || g.subscribes(tp.Topic) {
		return false
	}
	from := o.Committed
	switch {
	case g.protocolType == "":
	case g.state == Empty:
		if !g.since.IsZero() {
			from = g.since
		}
	case g.state == Stable && g.protocolType == consumers && g.subscribedKnown:
	default:
		return false
	}
	if !o.expires.IsZero() {
		return !now.Before(o.expires)
	}
	return now.Sub(from) >= retention
}

// inOrder are the groups by name.
func (c *Coordinator) inOrder() []*group {
	list := make([]*group, 0, len(c.groups))
	for _, g := range c.groups {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *group) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return list
}
