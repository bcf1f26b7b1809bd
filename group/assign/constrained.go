package assign

import (
	"slices"

	"github.com/seglog/seglog/internal/javahash"
)

// constrained is the sticky assignment of members which all subscribe to the
// same topics. Each gets least partitions, wanted of them one more.
type constrained struct {
	problem
	claims
	racks  rackInfo
	result map[string][]TopicPartition

	least, most   int
	wanted, found int // members with more than least

	below   []string // members which still have to get some to have least
	atLeast []string // those which have least and may get one more

	revoked map[TopicPartition]string // who had it and may have lost it
	moving  map[TopicPartition]string
}

func newConstrained(p problem, c claims, racks rackInfo) *constrained {
	n := len(p.members)
	return &constrained{
		problem: p, claims: c, racks: racks, result: p.result(),
		least: p.total / n, most: (p.total + n - 1) / n, wanted: p.total % n,
		revoked: make(map[TopicPartition]string), moving: make(map[TopicPartition]string),
	}
}

func (a *constrained) assign() (result map[string][]TopicPartition, moving map[TopicPartition]string) {
	kept := make(map[TopicPartition]bool)
	for _, m := range a.members {
		a.keep(m.ID)
		for _, tp := range a.result[m.ID] {
			kept[tp] = true
		}
	}
	left := slices.DeleteFunc(a.all(slices.SortedFunc(slices.Values(a.names), javahash.Compare)), func(tp TopicPartition) bool { return kept[tp] })
	slices.SortFunc(a.below, javahash.Compare)
	slices.SortFunc(a.atLeast, javahash.Compare)
	if a.racks.matter() {
		a.racks.fewestFirst(left)
		left = a.dealNear(left)
	}
	a.deal(left)
	return a.result, a.moving
}

// keep lets a member have what it had, as far as the quota goes.
func (a *constrained) keep(id string) {
	var had []TopicPartition
	for _, tp := range a.owned[id] {
		switch {
		case a.racks.mismatch(id, tp):
			a.revoked[tp] = id
		case !a.contested[tp]:
			had = append(had, tp)
		}
	}
	slices.SortFunc(had, byPartition)
	quota := a.least
	switch {
	case len(had) < a.least:
		a.below = append(a.below, id)
		quota = len(had)
	case len(had) >= a.most && a.found < a.wanted:
		quota = a.most
		a.more()
	case a.found < a.wanted:
		a.atLeast = append(a.atLeast, id)
	}
	a.result[id] = slices.Clone(had[:quota])
	for _, tp := range had[quota:] {
		a.revoked[tp] = id
	}
}

// more counts a member that has more than least. When there are as many as
// there may be, those with least are done.
func (a *constrained) more() {
	if a.found++; a.found == a.wanted {
		a.atLeast = nil
	}
}

// dealNear deals what members get that are on a rack of the partition, and
// returns the rest.
func (a *constrained) dealNear(left []TopicPartition) (rest []TopicPartition) {
	next := 0
	for _, tp := range left {
		if at := a.racks.next(tp, a.below, next); at >= 0 {
			id := a.below[at]
			switch n := len(a.result[id]) + 1; {
			case n < a.least:
				at++
			case n < a.most && a.found < a.wanted:
				a.atLeast = append(a.atLeast, id)
				fallthrough
			default:
				a.below = slices.Delete(a.below, at, at+1)
			}
			if next = 0; len(a.below) > 0 {
				next = at % len(a.below)
			}
			a.give(tp, id)
		} else if at := a.racks.next(tp, a.atLeast, 0); at >= 0 {
			id := a.atLeast[at]
			a.atLeast = slices.Delete(a.atLeast, at, at+1)
			a.give(tp, id)
			a.more()
		} else {
			rest = append(rest, tp)
		}
	}
	return rest
}

// deal deals the rest round-robin to those below least, then one each to those
// which have least.
func (a *constrained) deal(left []TopicPartition) {
	next := 0
	for _, tp := range left {
		if len(a.below) == 0 {
			id := a.atLeast[0]
			a.atLeast = a.atLeast[1:]
			a.give(tp, id)
			continue
		}
		if next >= len(a.below) {
			next = 0
		}
		id := a.below[next]
		a.give(tp, id)
		if len(a.result[id]) == a.least {
			a.below = slices.Delete(a.below, next, next+1)
			a.atLeast = append(a.atLeast, id)
		} else {
			next++
		}
	}
}

func (a *constrained) give(tp TopicPartition, id string) {
	a.result[id] = append(a.result[id], tp)
	if had, ok := a.revoked[tp]; ok && had != id || a.contested[tp] {
		a.moving[tp] = id
	}
}
