package segment

import (
	"errors"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// Walk calls f with each batch from the one that holds offset from on, until f
// returns an error. b is the mapping's memory and f must not keep it. Checksums
// are verified if asked to; otherwise the caller has just done so, from there on.
//
// Damage is passed over and lost is told of it: that offsets of [from, next) are
// not readable, next being -1 where nothing behind them is. Whoever reads the
// records there meets it.
func (s *Segment) Walk(from int64, verify bool, f func(b record.Batch) error, lost func(from, next int64)) (err error) {
	p, err := s.Pin()
	var damage *DamageError
	if errors.As(err, &damage) {
		lost(damage.Offset, -1)
		return nil
	}
	if err != nil {
		return err
	}
	defer p.Release()
	defer p.faulted(from, &err)
	defer vfs.Unguard(vfs.Guard(), &err)
	pos, next, err := p.find(from, nil)
	if errors.As(err, &damage) {
		lost(damage.Offset, damage.Next)
		if damage.Next < 0 {
			return nil
		}
		pos, next = damage.NextPosition, damage.Next
	}
	parse := record.Verified
	if verify {
		parse = record.Parse
	}
	for pos < p.size {
		b, err := parse(p.r.log[pos:p.size])
		if err == nil && b.BaseOffset < from { // a damaged one may have led here
			b, err = record.Parse(p.r.log[pos:p.size])
		}
		bad := pos
		if err == nil {
			bad, err = CheckOrder(p.r.log[:p.size], &b.BatchHeader, pos, next, p.s.next.Load())
		}
		if err != nil {
			d := p.damage(pos, bad, next, err)
			lost(d.Offset, d.Next)
			if d.Next < 0 {
				return nil
			}
			pos, next = d.NextPosition, d.Next
			continue
		}
		if err := f(b); err != nil {
			return err
		}
		next, pos = b.NextOffset(), pos+int64(b.Size)
	}
	if errors.As(s.end(), &damage) {
		lost(damage.Offset, -1)
	}
	return nil
}
