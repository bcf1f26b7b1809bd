package compact

import (
	"bytes"

	"github.com/seglog/seglog/record"
)

// keep adds to c.kept those of the records, of the batch at base, that stay.
// expired says that the batch's delete horizon has passed.
func (c *cleaner) keep(base int64, records []record.Raw, hashes []uint64, expired bool) error {
	var later [window]place // of the record that may supersede each
	var has [window]bool
	for i := range records {
		r := &records[i]
		offset := base + int64(r.OffsetDelta)
		if r.Key == nil || offset >= c.mapped {
			continue
		}
		if newest, p, ok := c.newest.get(hashes[i]); ok && offset < newest {
			later[i], has[i] = p, true
		}
	}
	if err := c.touchKeys(later[:len(records)], has[:]); err != nil {
		return err
	}
	for i := range records {
		r := &records[i]
		offset := base + int64(r.OffsetDelta)
		stays := offset >= c.mapped
		if !stays && r.Key != nil {
			superseded, err := c.superseded(r, offset, later[i], has[i])
			if err != nil {
				return err
			}
			stays = !superseded && (has[i] || !r.Tombstone || !expired)
		}
		if stays {
			c.kept = append(c.kept, *r)
		}
	}
	return nil
}

// superseded says whether the later record at p has the key of r, which is at
// offset.
//
// If not, two keys have one hash. What was put for this key, if anything, is not
// known any more, and neither is whether older records of it were met: so it
// stays, even a tombstone whose time has come, and is dirty still.
func (c *cleaner) superseded(r *record.Raw, offset int64, p place, has bool) (bool, error) {
	if !has {
		return false, nil
	}
	key, err := c.keyAt(p)
	if err != nil || bytes.Equal(key, r.Key) {
		return err == nil, err
	}
	c.tally.collisions++
	c.tally.undone = min(c.tally.undone, offset)
	return false, nil
}

// keyAt is the key of the record that a slot of the map stands for.
func (c *cleaner) keyAt(p place) ([]byte, error) {
	if p&inKeyFile != 0 {
		return c.keys.at(p), nil
	}
	number, position := p.split()
	log, err := c.sources.log(number)
	if err != nil || position >= int64(len(log)) {
		return nil, err
	}
	key, _ := record.KeyAt(log[position:])
	return key, nil
}

// touchKeys brings the keys at those places near, as keyMap.touch does slots.
func (c *cleaner) touchKeys(places []place, has []bool) error {
	var sum byte
	for i, p := range places {
		if !has[i] {
			continue
		}
		if p&inKeyFile != 0 {
			sum += c.keys.mem.Bytes()[p&^inKeyFile]
			continue
		}
		number, position := p.split()
		log, err := c.sources.log(number)
		if err != nil {
			return err
		}
		sum += log[position]
	}
	c.newest.touched += uint64(sum)
	return nil
}
