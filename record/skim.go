package record

// skimBytes is more than a record of the usual shape has before its key, or
// between its key and its value.
const skimBytes = 16

// skim passes over the next records as long as they are of the usual shape,
// without headers and with integers of two bytes at most, and holds them to
// what Next does. It stops at one that is not, or that ends near the payload's
// end: that is for Next to read, or to refuse. latest becomes the largest of its
// own value and the times of those passed; under LogAppendTime it means nothing.
func (d *Decoder) skim(latest int64) int64 {
	p, at, left, prev := d.payload, d.pos, d.left, d.prevDelta
	for ; left > 0 && len(p)-at >= skimBytes; left-- {
		head := (*[skimBytes]byte)(p[at:])
		size, i := short(head, 0)
		end := at + int(i) + int(size>>1)
		timeDelta, i := short(head, i+1) // behind a byte of attributes
		offsetDelta, i := short(head, i)
		keyLen, i := short(head, i)
		delta := unzigzag32(offsetDelta)
		key := at + int(i) + max(int(unzigzag32(keyLen)), 0)
		if i >= isLong || size&1 != 0 || end > len(p) || delta <= prev || delta > d.lastDelta ||
			keyLen&1 != 0 && keyLen != minusOne || len(p)-key < skimBytes {
			break
		}
		valueLen, i := short((*[skimBytes]byte)(p[key:]), 0)
		value := key + int(i) + max(int(unzigzag32(valueLen)), 0)
		if valueLen&1 != 0 && valueLen != minusOne || value != end-1 || p[value] != 0 { // not just a header count of 0
			break
		}
		latest = max(latest, d.baseTime+int64(unzigzag32(timeDelta)))
		at, prev = end, delta
	}
	d.pos, d.left, d.prevDelta = at, left, prev
	return latest
}

// minusOne is the length of null as it is encoded.
const minusOne = 1

// isLong is added to the index behind an integer of more than two bytes, and
// stays in it.
const isLong = 1 << 8

// short reads the integer at i, its sign still in the lowest bit, and gives the
// index behind it. Four in a row and a byte fit into skimBytes.
func short(b *[skimBytes]byte, i uint) (u uint32, next uint) {
	u = uint32(b[i%skimBytes])
	if u < 0x80 {
		return u, i + 1
	}
	second := uint32(b[(i+1)%skimBytes])
	return u&0x7f | second<<7, i + 2 + uint(second>>7)*isLong
}
