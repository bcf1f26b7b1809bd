package group

import "time"

// CommitRequest is an OffsetCommit of partitions which exist: the broker answers
// for others.
type CommitRequest struct {
	Version         int16 // of the request: from 9 on an unknown group has a code of its own
	Group, MemberID string
	InstanceID      *string
	Generation      int32         // -1 with a simple commit, of who is in no group
	Retention       time.Duration // of versions 2 to 4; 0: as the broker keeps offsets
	Offsets         []Commit
}

// Commit is the offset of a partition to be committed.
type Commit struct {
	TopicPartition
	TopicID     [16]byte
	Offset      int64
	LeaderEpoch int32 // -1 for none
	Metadata    string
}

// Committed is what became of one.
type Committed struct {
	TopicPartition
	Code Code
}

// Commit commits offsets. They are read by Fetch when they are durable, and then
// reply is called, once: now or later, with one answer for each offset in their
// order.
func (c *Coordinator) Commit(now time.Time, r CommitRequest, reply func([]Committed)) {
	c.now = now
	g, code := c.committer(now, r, false)
	if code != None {
		reply(all(r.Offsets, code))
		return
	}
	if m := g.byID[r.MemberID]; m != nil && (g.state == Stable || g.state == PreparingRebalance) {
		c.touch(now, g, m)
	}
	c.commit(now, g, r, Batch{ProducerID: NoProducer, ProducerEpoch: -1}, reply)
}

// CommitTransaction is Commit of a TxnOffsetCommit: in a batch of a producer
// whose transaction has got the coordinator's partition. The offsets are read
// when EndTransaction says that it was committed.
func (c *Coordinator) CommitTransaction(now time.Time, r CommitRequest, producerID int64, epoch int16, reply func([]Committed)) {
	c.now = now
	g, code := c.committer(now, r, true)
	if code != None {
		reply(all(r.Offsets, code))
		return
	}
	c.commit(now, g, r, Batch{ProducerID: producerID, ProducerEpoch: epoch}, reply)
}

func all(commits []Commit, code Code) (answers []Committed) {
	for _, o := range commits {
		answers = append(answers, Committed{o.TopicPartition, code})
	}
	return answers
}

// committer is the group in which may be committed. A simple commit makes it,
// once it has something to write.
func (c *Coordinator) committer(now time.Time, r CommitRequest, transactional bool) (*group, Code) {
	if code := c.serving(); code != None {
		return nil, code
	}
	g := c.groups[r.Group]
	switch {
	case g == nil && r.Generation < 0:
		return newGroup(r.Group, now), None
	case g == nil && r.Version >= 9 && !transactional:
		return nil, GroupIDNotFound
	case g == nil:
		return nil, IllegalGeneration
	case g.deleting:
		return nil, CoordinatorLoadInProgress
	}
	return g, g.checkCommit(r, transactional)
}

func (g *group) checkCommit(r CommitRequest, transactional bool) Code {
	simple := r.Generation < 0 && r.MemberID == "" && r.InstanceID == nil
	switch {
	case r.Generation < 0 && g.state == Empty:
		return None
	case simple && !transactional:
		return UnknownMemberID
	case simple:
		// Producers before KIP-447 do not say of which member's they are.
		return None
	}
	if code := g.validate(r.MemberID, r.InstanceID); code != None {
		return code
	}
	switch {
	case r.Generation != g.generation:
		return IllegalGeneration
	case g.state == CompletingRebalance && !transactional:
		// It has learned of the generation, and is to go on with joining.
		return RebalanceInProgress
	}
	return None
}

func (c *Coordinator) commit(now time.Time, g *group, r CommitRequest, b Batch, reply func([]Committed)) {
	answers := all(r.Offsets, None)
	var written []int // of answers, by record
	committed := now.Truncate(time.Millisecond)
	values := make([]Offset, len(r.Offsets))
	for i, o := range r.Offsets {
		if len(o.Metadata) > c.config.MaxOffsetMetadata {
			answers[i].Code = OffsetMetadataTooLarge
			continue
		}
		values[i] = Offset{Offset: o.Offset, LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata, Committed: committed, TopicID: o.TopicID}
		if r.Retention > 0 {
			values[i].expires = committed.Add(r.Retention)
		}
		b.Records = append(b.Records, g.offsetRecord(o.TopicPartition, values[i]))
		written = append(written, i)
		g.offsets.inFlight[o.TopicPartition]++
	}
	if len(written) == 0 {
		reply(answers)
		return
	}
	c.groups[r.Group] = g
	b.Time = now
	c.config.Append(b, c.once(func(first int64, code Code) {
		for n, i := range written {
			tp := answers[i].TopicPartition
			if g.offsets.inFlight[tp]--; g.offsets.inFlight[tp] == 0 {
				delete(g.offsets.inFlight, tp)
			}
			values[i].position = first + int64(n)
			switch {
			case code != None:
				answers[i].Code = ofLogForOffsets(code)
			case b.ProducerID != NoProducer:
				g.offsets.hold(b.ProducerID, tp, values[i])
			default:
				g.offsets.put(tp, values[i])
			}
		}
		reply(answers)
	}))
}

// EndTransaction is told of a producer's marker in the coordinator's partition:
// what it committed there counts from then on, or never.
func (c *Coordinator) EndTransaction(producerID int64, committed bool) {
	for _, g := range c.groups {
		of := g.offsets.pending[producerID]
		delete(g.offsets.pending, producerID)
		if committed {
			for tp, v := range of {
				g.offsets.put(tp, v)
			}
		}
	}
}
