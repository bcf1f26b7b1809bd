package queue

import "slices"

// span is the offsets [from, to).
type span struct{ from, to int64 }

// spans is a set of offsets: sorted spans that neither overlap nor touch.
type spans []span

// at is the index of the first span that ends above offset.
func (s spans) at(offset int64) int {
	i, _ := slices.BinarySearchFunc(s, offset, func(x span, offset int64) int {
		if x.to > offset {
			return 1
		}
		return -1
	})
	return i
}

func (s spans) has(offset int64) bool {
	i := s.at(offset)
	return i < len(s) && s[i].from <= offset
}

// after is the first offset from offset on that is not in the set.
func (s spans) after(offset int64) int64 {
	if i := s.at(offset); i < len(s) && s[i].from <= offset {
		return s[i].to
	}
	return offset
}

// add puts [from, to) into the set.
func (s *spans) add(from, to int64) {
	if from >= to {
		return
	}
	i := s.at(from - 1) // the first that touches or follows
	j := i
	for j < len(*s) && (*s)[j].from <= to {
		from, to = min(from, (*s)[j].from), max(to, (*s)[j].to)
		j++
	}
	*s = slices.Replace(*s, i, j, span{from, to})
}

// below takes everything below offset out.
func (s *spans) below(offset int64) {
	i := s.at(offset)
	*s = slices.Delete(*s, 0, i)
	if len(*s) > 0 {
		(*s)[0].from = max((*s)[0].from, offset)
	}
}

// beyond takes everything from offset on out.
func (s *spans) beyond(offset int64) {
	i := s.at(offset)
	if i < len(*s) && (*s)[i].from < offset {
		(*s)[i].to = offset
		i++
	}
	*s = (*s)[:i]
}

// count is how many offsets are in the set.
func (s spans) count() (n int64) {
	for _, x := range s {
		n += x.to - x.from
	}
	return n
}

// within is the part of the set inside [from, to).
func (s spans) within(from, to int64) (part spans) {
	for i := s.at(from); i < len(s) && s[i].from < to; i++ {
		part = append(part, span{max(s[i].from, from), min(s[i].to, to)})
	}
	return part
}
