package assign

import (
	"cmp"
	"maps"
	"slices"
)

// racksMatter says whether the racks of members and replicas decide anything
// (KIP-881): some are the same, and not every partition is on every rack.
func racksMatter(ofMembers map[string]bool, ofPartitions []map[string]bool) bool {
	all := make(map[string]bool)
	for _, racks := range ofPartitions {
		maps.Copy(all, racks)
	}
	common := false
	for rack := range ofMembers {
		common = common || all[rack]
	}
	return common && !allEqual(ofPartitions, all)
}

func allEqual(sets []map[string]bool, to map[string]bool) bool {
	for _, s := range sets {
		if !maps.Equal(s, to) {
			return false
		}
	}
	return true
}

// racksOf are the racks on which a partition has replicas.
func (t Topic) racksOf(partition int32) map[string]bool {
	set := make(map[string]bool)
	if int(partition) < len(t.Racks) {
		for _, rack := range t.Racks[partition] {
			set[rack] = true
		}
	}
	return set
}

// rackInfo is who and what is on which rack. It is empty where that does not
// matter.
type rackInfo struct {
	ofMember    map[string]string
	ofPartition map[TopicPartition]map[string]bool
	near        map[TopicPartition]int // members on the partition's racks
}

func newRackInfo(p problem) rackInfo {
	onRack, members := make(map[string]int), make(map[string]string)
	rackSet := make(map[string]bool)
	for _, m := range p.members {
		if m.Rack != "" {
			onRack[m.Rack]++
			members[m.ID], rackSet[m.Rack] = m.Rack, true
		}
	}
	if len(members) == 0 {
		return rackInfo{}
	}
	info := rackInfo{members, make(map[TopicPartition]map[string]bool), make(map[TopicPartition]int)}
	for _, tp := range p.all(p.names) {
		racks := p.topics[tp.Topic].racksOf(tp.Partition)
		info.ofPartition[tp] = racks
		for rack := range racks {
			info.near[tp] += onRack[rack]
		}
	}
	if !racksMatter(rackSet, slices.Collect(maps.Values(info.ofPartition))) {
		return rackInfo{}
	}
	return info
}

// matter says whether racks are looked at.
func (r rackInfo) matter() bool { return len(r.ofMember) > 0 }

// mismatch says that a member has a rack and the partition has no replica on it.
func (r rackInfo) mismatch(member string, tp TopicPartition) bool {
	rack, ok := r.ofMember[member]
	return ok && !r.ofPartition[tp][rack]
}

// on says that a member is known to be on a rack of the partition.
func (r rackInfo) on(member string, tp TopicPartition) bool {
	rack, ok := r.ofMember[member]
	return ok && r.ofPartition[tp][rack]
}

// next is the index of the first of the members from an index on, and around,
// that is on a rack of the partition, -1 if there is none.
func (r rackInfo) next(tp TopicPartition, members []string, from int) int {
	for i := range members {
		at := (from + i) % len(members)
		if r.on(members[at], tp) {
			return at
		}
	}
	return -1
}

// fewestFirst puts the partitions first that have fewest members on their racks.
func (r rackInfo) fewestFirst(partitions []TopicPartition) {
	slices.SortStableFunc(partitions, func(a, b TopicPartition) int { return cmp.Compare(r.near[a], r.near[b]) })
}
