package compact

import (
	"bytes"

	"github.com/seglog/seglog/record"
)

// keep adds to w.kept those of the records, of the batch at base, that stay.
// expired says that the batch's delete horizon has passed.
func (w *worker) keep(base int64, records []record.Raw, hashes []uint64, expired bool) error {
	var later [window]place // of the record that may supersede each
	var has [window]bool
	for i := range records {
		r := &records[i]
		offset := base + int64(r.OffsetDelta)
		if r.Key == nil || offset >= w.mapped {
			continue
		}
		if newest, p, ok := w.newest.get(hashes[i]); ok && offset < newest {
			later[i], has[i] = p, true
		}
	}
	if err := w.touchKeys(later[:len(records)], has[:]); err != nil {
		return err
	}
	for i := range records {
		r := &records[i]
		offset := base + int64(r.OffsetDelta)
		stays := offset >= w.mapped
		if !stays && r.Key != nil {
			superseded, err := w.superseded(r, offset, later[i], has[i])
			if err != nil {
				return err
			}
			stays = !superseded && (has[i] || !r.Tombstone || !expired)
		}
		if stays {
			w.kept = append(w.kept, *r)
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
func (w *worker) superseded(r *record.Raw, offset int64, p place, has bool) (bool, error) {
	if !has {
		return false, nil
	}
	key, err := w.keyAt(p)
	if err != nil || bytes.Equal(key, r.Key) {
		return err == nil, err
	}
	w.tally.collisions++
	w.tally.undone = min(w.tally.undone, offset)
	return false, nil
}

// keyAt is the key of the record that a slot of the map stands for.
func (w *worker) keyAt(p place) ([]byte, error) {
	if p&inKeyFile != 0 {
		return w.keys.at(p), nil
	}
	number, position := p.split()
	log, err := w.sources.log(number)
	if err != nil || position >= int64(len(log)) {
		return nil, err
	}
	key, _ := record.KeyAt(log[position:])
	return key, nil
}

// touchKeys brings the keys at those places near, as keyMap.touch does slots.
func (w *worker) touchKeys(places []place, has []bool) error {
	var sum byte
	for i, p := range places {
		if !has[i] {
			continue
		}
		if p&inKeyFile != 0 {
			sum += w.keys.mem.Bytes()[p&^inKeyFile]
			continue
		}
		number, position := p.split()
		log, err := w.sources.log(number)
		if err != nil {
			return err
		}
		sum += log[position]
	}
	w.touched += uint64(sum)
	return nil
}

// keepUnmarked adds to w.kept those of the records just read that stay, where it
// was marked which are superseded. Keys were compared for that.
func (w *worker) keepUnmarked(b *batch, expired bool) {
	for i := range w.records {
		r := &w.records[i]
		if r.Key != nil && !w.marks.has(b.ordinal+int64(i)) && (!r.Tombstone || !expired) {
			w.kept = append(w.kept, *r)
		}
	}
}
