package log

import (
	"slices"

	"github.com/google/btree"

	"github.com/seglog/seglog/segment"
)

// slot is a segment in the ordered set, keyed by its base offset. A slot that
// is only looked up with may carry a list to note the bases it is compared to.
type slot struct {
	base   int64
	seg    *segment.Segment
	probed *[]int64
}

func less(a, b slot) bool {
	if a.probed != nil {
		note(a.probed, b.base)
	} else if b.probed != nil {
		note(b.probed, a.base)
	}
	return a.base < b.base
}

// note adds a base once: to find an equal one the tree compares both ways.
func note(probed *[]int64, base int64) {
	if !slices.Contains(*probed, base) {
		*probed = append(*probed, base)
	}
}

// set is an immutable ordered set of segments: what readers see.
type set struct {
	tree *btree.BTreeG[slot]
}

const degree = 32

// newSet is the set of those segments, one at least.
func newSet(segments []*segment.Segment) *set {
	t := btree.NewG(degree, less)
	for _, s := range segments {
		t.ReplaceOrInsert(slot{base: s.Base(), seg: s})
	}
	return &set{t}
}

// change is a new set, with the old one's nodes as far as they are alike. It is
// the only way a set comes to be after Open; l.mu serialises it.
//
// Clone writes to the tree it copies, though not to what readers read of it.
func (s *set) change(remove []*segment.Segment, add ...*segment.Segment) *set {
	t := s.tree.Clone()
	for _, seg := range remove {
		t.Delete(slot{base: seg.Base()})
	}
	for _, seg := range add {
		t.ReplaceOrInsert(slot{base: seg.Base(), seg: seg})
	}
	return &set{t}
}

// floor is the segment with the greatest base at or below offset, nil if none.
// The bases it compared are appended to probed, if that is not nil.
func (s *set) floor(offset int64, probed *[]int64) (found *segment.Segment) {
	s.tree.DescendLessOrEqual(slot{base: offset, probed: probed}, func(x slot) bool {
		found = x.seg
		return false
	})
	return found
}

// after is the segment that follows the one based at base, nil if none.
func (s *set) after(base int64) (found *segment.Segment) {
	s.tree.AscendGreaterOrEqual(slot{base: base + 1}, func(x slot) bool {
		found = x.seg
		return false
	})
	return found
}

// all lists the segments, oldest first.
func (s *set) all() []*segment.Segment {
	list := make([]*segment.Segment, 0, s.tree.Len())
	s.tree.Ascend(func(x slot) bool {
		list = append(list, x.seg)
		return true
	})
	return list
}

func (s *set) newest() *segment.Segment {
	x, _ := s.tree.Max()
	return x.seg
}

func (s *set) oldest() *segment.Segment {
	x, _ := s.tree.Min()
	return x.seg
}

func (s *set) len() int { return s.tree.Len() }
