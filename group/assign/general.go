package assign

import (
	"cmp"
	"github.com/seglog/seglog/internal/javahash"
	"slices"
)

// general is the sticky assignment of members which subscribe to different
// topics: what they have is kept, the rest goes to who has fewest, and then
// partitions are moved as long as that improves the balance.
type general struct {
	problem
	claims
	racks rackInfo

	ids    []string                    // of members, sorted
	subs   map[string]map[string]bool  // topics by member
	others map[string][]string         // members by topic
	has    map[string][]TopicPartition // by member
	owner  map[TopicPartition]string
	byLoad []string                  // the members that take part, in the order of how many partitions they have, then of their ids
	before map[TopicPartition]string // who had it in an earlier generation
	moves  movements

	revoked bool // somebody lost a partition that it may not have any more
}

func newGeneral(p problem, c claims, racks rackInfo) *general {
	g := &general{problem: p, claims: c, racks: racks, subs: make(map[string]map[string]bool), others: make(map[string][]string),
		has: make(map[string][]TopicPartition), owner: make(map[TopicPartition]string), moves: newMovements()}
	for _, m := range p.members {
		topics := make(map[string]bool)
		for _, t := range m.Topics {
			if _, ok := p.topics[t]; ok {
				topics[t] = true
				g.others[t] = append(g.others[t], m.ID)
			}
		}
		g.ids, g.subs[m.ID] = append(g.ids, m.ID), topics
		g.has[m.ID] = nil
		for _, tp := range c.owned[m.ID] {
			if !topics[tp.Topic] || racks.mismatch(m.ID, tp) {
				g.revoked = true
				continue
			}
			g.has[m.ID], g.owner[tp] = append(g.has[m.ID], tp), m.ID
		}
	}
	slices.SortFunc(g.ids, javahash.Compare)
	g.before = g.earlier()
	return g
}

// earlier are the owners of partitions as of generations before the last one.
func (g *general) earlier() map[TopicPartition]string {
	owners, of := make(map[TopicPartition]string), make(map[TopicPartition]int32)
	for i, m := range g.members {
		c := g.of[i]
		if c.generation >= g.generation || !c.known && g.generation == NoGeneration {
			continue
		}
		for _, tp := range c.partitions {
			if generation, ok := of[tp]; g.subs[m.ID][tp.Topic] && (!ok || c.generation > generation) {
				owners[tp], of[tp] = m.ID, c.generation
			}
		}
	}
	return owners
}

func (g *general) compareLoad(a, b string) int {
	return cmp.Or(cmp.Compare(len(g.has[a]), len(g.has[b])), javahash.Compare(a, b))
}

// update changes how many partitions members have, and keeps byLoad in order:
// they are out of it meanwhile, as nothing is found in a list out of order.
func (g *general) update(change func(), ids ...string) {
	g.byLoad = slices.DeleteFunc(g.byLoad, func(id string) bool { return slices.Contains(ids, id) })
	change()
	for _, id := range ids {
		at, _ := slices.BinarySearchFunc(g.byLoad, id, g.compareLoad)
		g.byLoad = slices.Insert(g.byLoad, at, id)
	}
}

func (g *general) assign() map[string][]TopicPartition {
	names := slices.SortedFunc(slices.Values(g.names), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(g.others[a]), len(g.others[b])), javahash.Compare(a, b))
	})
	all := g.all(names)
	left := slices.DeleteFunc(slices.Clone(all), func(tp TopicPartition) bool { _, ok := g.owner[tp]; return ok })
	g.byLoad = slices.SortedFunc(slices.Values(g.ids), g.compareLoad)
	fresh := len(g.has[g.byLoad[len(g.byLoad)-1]]) == 0
	rest := left
	if g.racks.matter() {
		rest = slices.DeleteFunc(slices.Clone(left), func(tp TopicPartition) bool {
			return g.give(tp, func(id string) bool { return !g.racks.mismatch(id, tp) })
		})
	}
	for _, tp := range rest {
		g.give(tp, func(string) bool { return true })
	}
	g.balance(all, left, fresh)
	return g.has
}

// give gives a partition to who has fewest of those which may have it.
func (g *general) give(tp TopicPartition, may func(id string) bool) bool {
	at := slices.IndexFunc(g.byLoad, func(id string) bool { return g.subs[id][tp.Topic] && may(id) })
	if at < 0 {
		return false
	}
	id := g.byLoad[at]
	g.update(func() { g.has[id], g.owner[tp] = append(g.has[id], tp), id }, id)
	return true
}

// balance moves partitions. all and left, those which were assigned only now,
// are in the order in which they are tried.
func (g *general) balance(all, left []TopicPartition, fresh bool) {
	fixed := func(tp TopicPartition) bool { return len(g.others[tp.Topic]) < 2 }
	all, left = slices.DeleteFunc(slices.Clone(all), fixed), slices.DeleteFunc(slices.Clone(left), fixed)
	g.byLoad = slices.DeleteFunc(g.byLoad, func(id string) bool {
		return len(g.has[id]) >= g.atMost(id) && !slices.ContainsFunc(g.has[id], func(tp TopicPartition) bool { return !fixed(tp) })
	})
	before := make(map[string][]TopicPartition)
	for id, list := range g.has {
		before[id] = slices.Clone(list)
	}
	score := g.score()
	if !g.revoked {
		g.move(left)
	}
	if g.move(all) && !fresh && g.score() >= score {
		g.has = before
	}
}

// atMost is how many partitions there are for a member.
func (g *general) atMost(id string) (n int) {
	for t := range g.subs[id] {
		n += int(g.topics[t].Partitions)
	}
	return n
}

// score is the sum of the differences of all pairs: 0 is balanced.
func (g *general) score() (sum int) {
	for i, a := range g.byLoad {
		for _, b := range g.byLoad[i+1:] {
			sum += max(len(g.has[a])-len(g.has[b]), len(g.has[b])-len(g.has[a]))
		}
	}
	return sum
}

// balanced says that no partition can be moved for the better.
func (g *general) balanced() bool {
	if len(g.byLoad) == 0 || len(g.has[g.byLoad[0]]) >= len(g.has[g.byLoad[len(g.byLoad)-1]])-1 {
		return true
	}
	for _, id := range g.byLoad {
		n := len(g.has[id])
		if n == g.atMost(id) {
			continue
		}
		for t := range g.subs[id] {
			for i := range g.topics[t].Partitions {
				if o := g.owner[TopicPartition{t, i}]; o != id && n+1 < len(g.has[o]) {
					return false
				}
			}
		}
	}
	return true
}

// move tries partitions over and over until none can be moved.
func (g *general) move(partitions []TopicPartition) (moved bool) {
	for again := true; again; {
		again = false
		for _, tp := range partitions {
			if g.balanced() {
				break
			}
			if g.moveOne(tp) {
				again, moved = true, true
			}
		}
	}
	return moved
}

// moveOne moves a partition, back to who had it before if that is one with
// fewer, else to who has fewest.
func (g *general) moveOne(tp TopicPartition) bool {
	id := g.owner[tp]
	fewer := func(other string) bool { return len(g.has[id]) > len(g.has[other])+1 }
	if to, ok := g.before[tp]; ok && fewer(to) && slices.Contains(g.byLoad, to) {
		g.reassign(tp, to)
		return true
	}
	if !slices.ContainsFunc(g.others[tp.Topic], fewer) {
		return false
	}
	at := slices.IndexFunc(g.byLoad, func(id string) bool { return g.subs[id][tp.Topic] })
	g.reassign(tp, g.byLoad[at])
	return true
}

// reassign moves the partition, or one of its topic that went the other way.
func (g *general) reassign(tp TopicPartition, to string) {
	tp = g.moves.actual(tp, g.owner[tp], to)
	from := g.owner[tp]
	g.moves.add(tp, from, to)
	g.update(func() {
		g.has[from] = without(g.has[from], tp)
		g.has[to], g.owner[tp] = append(g.has[to], tp), to
	}, from, to)
}

// pair is a way that partitions of a topic went.
type pair struct{ from, to string }

// movements are the ways that partitions went, from where they were first to
// where they are, so that no two partitions of a topic cross.
type movements struct {
	of      map[TopicPartition]pair
	byTopic map[string]map[pair]*hashSet
}

func newMovements() movements {
	return movements{make(map[TopicPartition]pair), make(map[string]map[pair]*hashSet)}
}

func (m movements) add(tp TopicPartition, from, to string) {
	way := pair{from, to}
	if old, moved := m.of[tp]; moved {
		delete(m.of, tp)
		set := m.byTopic[tp.Topic][old]
		if set.remove(tp); len(set.list) == 0 {
			delete(m.byTopic[tp.Topic], old)
		}
		if way.from = old.from; old.from == to {
			return
		}
	}
	m.of[tp] = way
	if m.byTopic[tp.Topic] == nil {
		m.byTopic[tp.Topic] = make(map[pair]*hashSet)
	}
	if m.byTopic[tp.Topic][way] == nil {
		m.byTopic[tp.Topic][way] = &hashSet{}
	}
	m.byTopic[tp.Topic][way].add(tp)
}

// actual is the partition to be moved for one that is to go from a member to
// another: one that went the opposite way goes back instead.
func (m movements) actual(tp TopicPartition, from, to string) TopicPartition {
	if old, moved := m.of[tp]; moved {
		from = old.from
	}
	if set := m.byTopic[tp.Topic][pair{to, from}]; set != nil {
		return set.first()
	}
	return tp
}
