package group

// Fetched is the offset of a partition as OffsetFetch answers: Offset and
// LeaderEpoch are -1 if there is none, or with a code.
type Fetched struct {
	TopicPartition
	Offset
	Code Code
}

// Fetch reads committed offsets of a group: one answer for each partition in
// their order. A group or a partition that is not known has none, which is no
// error. With stable those which an open transaction is about to change are
// UNSTABLE_OFFSET_COMMIT (KIP-447). The code is that of all.
func (c *Coordinator) Fetch(group string, partitions []TopicPartition, stable bool) ([]Fetched, Code) {
	if code := c.serving(); code != None {
		return nil, code
	}
	var list []Fetched
	for _, tp := range partitions {
		list = append(list, c.fetch(c.groups[group], tp, stable))
	}
	return list, None
}

// FetchAll reads all there are, in the order of topics and partitions. Of what
// only open transactions have there is no answer.
func (c *Coordinator) FetchAll(group string, stable bool) ([]Fetched, Code) {
	if code := c.serving(); code != None {
		return nil, code
	}
	g := c.groups[group]
	if g == nil {
		return nil, None
	}
	return c.Fetch(group, inOrder(g.offsets.committed), stable)
}

func (c *Coordinator) fetch(g *group, tp TopicPartition, stable bool) Fetched {
	f := Fetched{TopicPartition: tp, Offset: Offset{Offset: -1, LeaderEpoch: -1}}
	if g == nil {
		return f
	}
	if stable && g.offsets.unstable(tp) {
		f.Code = UnstableOffsetCommit
		return f
	}
	if o, ok := g.offsets.committed[tp]; ok {
		f.Offset = o
	}
	return f
}
