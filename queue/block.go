package queue

// block is what was delivered, and is not done, of the offsets of a block.
type block struct {
	number    int64
	written   bool     // it has a record
	delivered []*entry // in no order
}

// from and to are the offsets of a block.
func (b *block) from() int64 { return b.number * blockSize }
func (b *block) to() int64   { return b.from() + blockSize }

// blocks are the blocks that a consumer is in, by their numbers. The zero value is
// without any.
type blocks struct {
	m     map[int64]*block
	last  *block // that was asked for
	spare *block
}

// of is the block of an offset.
func (s *blocks) of(offset int64) *block {
	number := offset / blockSize
	if s.last != nil && s.last.number == number {
		return s.last
	}
	b := s.m[number]
	if b == nil {
		if b, s.spare = s.spare, nil; b == nil {
			b = new(block)
		}
		*b = block{number: number, delivered: b.delivered[:0]}
		if s.m == nil {
			s.m = make(map[int64]*block)
		}
		s.m[number] = b
	}
	s.last = b
	return b
}

// drop forgets a block of which nothing is delivered.
func (s *blocks) drop(b *block) {
	delete(s.m, b.number)
	if s.last == b {
		s.last = nil
	}
	s.spare = b
}

// add counts a message as delivered, and remove takes it back.
func (s *blocks) add(e *entry) {
	if e.slot == 0 {
		b := s.of(e.offset)
		b.delivered = append(b.delivered, e)
		e.slot = len(b.delivered)
	}
}

func (s *blocks) remove(e *entry) {
	if e.slot == 0 {
		return
	}
	b := s.of(e.offset)
	last := len(b.delivered) - 1
	moved := b.delivered[last]
	b.delivered[e.slot-1], moved.slot = moved, e.slot
	b.delivered[last] = nil
	b.delivered, e.slot = b.delivered[:last], 0
}
