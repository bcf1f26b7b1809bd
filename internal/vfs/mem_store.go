package vfs

import (
	"bytes"
	"fmt"
)

// A Store is a store into a mapping, or a write, that is about to be made. What
// a Crash or a Kill made of the Mem in OnStore finds is what was stored until
// then: so the machine can be stopped between any two stores and, with Tear,
// within one.
type Store struct {
	Name  string // of the file
	At    int64  // position in it
	Bytes []byte

	f      *memFile
	mapped *memMapping // nil for a write
}

// Mapped says that it is a store into a mapping.
func (s Store) Mapped() bool { return s.mapped != nil }

// word is what a processor stores at once.
const word = 8

// Tear makes a part of the store, a seeded choice of those that a machine may
// have made that stops within it, and reports whether there are any.
//
// Copying into memory is many instructions, in an order that is not ours to
// know: any of the words that it touches may be there. Up to 8 bytes are one
// instruction. A write goes through the kernel, page by page.
func (s Store) Tear(seed uint64) bool {
	c := newChance(seed, forTear)
	if s.mapped == nil {
		return s.tearWrite(c)
	}
	if len(s.Bytes) <= word {
		return false
	}
	end := s.At + int64(len(s.Bytes))
	odds, from, to := c.odds(), s.At, end
	if edge := s.At + c.r.Int64N(int64(len(s.Bytes))); c.coin() { // all up to a place, or from there on
		if odds = 1; c.coin() {
			to = edge
		} else {
			from = edge
		}
	}
	for at := s.At; at < end; {
		next := min(at-at%word+word, end)
		if at >= from && next <= to && c.of(odds) {
			s.mapped.store(at, s.Bytes[at-s.At:next-s.At])
		}
		at = next
	}
	return true
}

func (s Store) tearWrite(c chance) bool {
	first := PageSize - s.At%PageSize
	if int64(len(s.Bytes)) <= first {
		return false
	}
	pages := (int64(len(s.Bytes)) - first) / PageSize
	_, err := s.f.writeAt(s.Bytes[:first+c.r.Int64N(pages+1)*PageSize], s.At)
	return err == nil
}

// listen begins to keep what is told of stores.
func (n *memNode) listen() {
	if n.told == nil || n.maps == 0 {
		n.told = cloneUnseen(n.data)
	}
}

// tell keeps what is stored.
func (n *memNode) tell(at int64, b []byte) {
	if n.told != nil {
		copy(n.told[at:], b)
	}
}

// Untold says what was stored into a mapping other than by Store, nil for
// nothing: a test that stops between stores does not see such ones. Nobody may
// be storing meanwhile.
func (m *Mem) Untold() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range m.mu.live.nodes() {
		if n.told == nil || bytes.Equal(n.told[:n.size], n.data[:n.size]) {
			continue
		}
		at := 0
		for n.told[at] == n.data[at] {
			at++
		}
		return fmt.Errorf("byte %d of %s was stored without a call of Store: %#x, told was %#x", at, m.mu.live.at[n].name, n.data[at], n.told[at])
	}
	return nil
}
