package segment

import (
	"errors"
	"io"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// Walk calls f with each batch from the one that holds offset from on, until f
// returns an error. Headers are not verified; b is the mapping's memory and f
// must not keep it. Damage ends the walk quietly: whoever reads the records
// there meets it.
func (s *Segment) Walk(from int64, f func(b record.Batch) error) (err error) {
	p, err := s.Pin()
	if err != nil {
		return err
	}
	defer p.Release()
	defer p.faulted(from, &err)
	defer vfs.Unguard(vfs.Guard(), &err)
	pos, err := p.find(from, nil)
	var damage *DamageError
	if err == io.EOF || errors.As(err, &damage) {
		return nil
	}
	for next := s.base; err == nil && pos < p.size; {
		b, perr := record.Verified(p.r.log[pos:p.size])
		if perr != nil || b.BaseOffset < next {
			return nil
		}
		next, pos = b.NextOffset(), pos+int64(b.Size)
		err = f(b)
	}
	return err
}
