package segment

import (
	"bytes"
	"fmt"

	"github.com/seglog/seglog/record"
)

var (
	errOrder    = fmt.Errorf("%w: its offsets do not follow", record.ErrCorrupt)
	errMagic    = fmt.Errorf("%w: its magic is not 2", record.ErrCorrupt)
	errCutShort = fmt.Errorf("%w: it ends behind the file", record.ErrCorrupt)
)

// magicAt is where a batch has its magic byte, 2.
const magicAt = 16

// Resync looks behind the bad batch at position for the next whole one whose
// offsets are at or above next. The byte that is alike in every batch is the
// magic, so each place that has it is tried: the header must be sane, and then
// the checksum decides.
func Resync(log []byte, position, next int64) (b record.Batch, at int64, ok bool) {
	for at = position + 1; at+record.HeaderSize <= int64(len(log)); at++ {
		skip := bytes.IndexByte(log[at+magicAt:], 2)
		if skip < 0 {
			break
		}
		at += int64(skip)
		b, err := record.Parse(log[at:])
		if err == nil && b.BaseOffset >= next {
			return b, at, true
		}
	}
	return record.Batch{}, 0, false
}
