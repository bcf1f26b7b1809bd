package compact

import (
	"math/bits"
	"slices"
)

// place is where the record lies that a slot of the map stands for: enough to
// find its key again without an index.
type place uint64

// Of a batch that is not compressed it is the segment's number, counted from
// the first one read, and the record's position in its log; of others it is a
// position in the file of keys.
const (
	inKeyFile    = 1 << 63
	positionBits = 31 // segments are at most 2 GiB
)

func inSegment(number int, position int64) place {
	return place(uint64(number)<<positionBits | uint64(position))
}

func inKeys(position int64) place { return place(inKeyFile | uint64(position)) }

func (p place) split() (number int, position int64) {
	return int(p >> positionBits), int64(p & (1<<positionBits - 1))
}

// slot is 24 bytes, as Kafka's.
type slot struct {
	hash  uint64
	next  int64 // the record's offset plus 1, so that 0 is no record
	place place
}

const (
	slotBytes   = 24
	minMapBytes = 64 * slotBytes
)

// keyMap maps the hash of a key to its newest record: an open-addressed table
// of fixed size with linear probing. What it says of a key is what it says of
// the last key put with that hash.
type keyMap struct {
	room  []slot // all there are
	slots []slot // those in use
	used  int
	limit int // of used

	touched uint64 // keeps touch from being optimised away
}

// newKeyMap takes at most maxBytes, and less where fewer keys can come.
func newKeyMap(maxBytes, keys int64) *keyMap {
	n := maxBytes / slotBytes
	if needed := keys + keys/4 + 64; needed < n {
		n = needed
	}
	m := &keyMap{room: make([]slot, n)}
	m.clear(n)
	return m
}

// clear empties the map and makes it one for so many keys, or as many as there
// is room for. A small one is the faster one.
func (m *keyMap) clear(keys int64) {
	n := min(keys+keys/4+64, int64(len(m.room)))
	m.slots, m.used, m.limit = m.room[:n], 0, int(float64(n)*loadFactor)
	clear(m.slots)
}

// put notes that the record at offset, which lies at p, is the newest with that
// hash. It is false where that takes a slot and the map is full.
func (m *keyMap) put(hash uint64, offset int64, p place) bool {
	s := m.find(hash)
	if s.next == 0 {
		if m.used >= m.limit {
			return false
		}
		m.used++
	}
	*s = slot{hash: hash, next: offset + 1, place: p}
	return true
}

// get is the newest record with that hash; ok is false where there is none.
func (m *keyMap) get(hash uint64) (offset int64, p place, ok bool) {
	s := m.find(hash)
	return s.next - 1, s.place, s.next != 0
}

// putAll puts those, in order, until the map is full. Places among keys are
// told from the place that is given.
func (m *keyMap) putAll(found []slot, keys place) bool {
	for run := range slices.Chunk(found, window) {
		var hashes [window]uint64
		for i := range run {
			hashes[i] = run[i].hash
		}
		m.touched += m.touch(hashes[:len(run)])
		for _, s := range run {
			if s.place&inKeyFile != 0 {
				s.place += keys &^ inKeyFile
			}
			if !m.put(s.hash, s.next-1, s.place) {
				return false
			}
		}
	}
	return true
}

// touch brings the slots of those hashes near. The loads do not depend on each
// other, so the processor waits for them together, not for one after the other
// as lookups do. What it returns means nothing.
func (m *keyMap) touch(hashes []uint64) uint64 {
	var sum uint64
	for _, hash := range hashes {
		at, _ := bits.Mul64(hash, uint64(len(m.slots)))
		sum += m.slots[at].hash
	}
	return sum
}

// find is the slot of that hash, or the free one where it would go. There is
// always a free one: the limit is below the number of slots.
func (m *keyMap) find(hash uint64) *slot {
	at, _ := bits.Mul64(hash, uint64(len(m.slots)))
	for i := int(at); ; i++ {
		if i == len(m.slots) {
			i = 0
		}
		if s := &m.slots[i]; s.next == 0 || s.hash == hash {
			return s
		}
	}
}

// findKey is find for a map that knows one key from another of the same hash:
// same says whether the key at a place is the one that is looked for.
func (m *keyMap) findKey(hash uint64, same func(place) bool) *slot {
	at, _ := bits.Mul64(hash, uint64(len(m.slots)))
	for i := int(at); ; i++ {
		if i == len(m.slots) {
			i = 0
		}
		if s := &m.slots[i]; s.next == 0 || s.hash == hash && same(s.place) {
			return s
		}
	}
}
