package segment

import (
	"fmt"

	"github.com/seglog/seglog/record"
)

// CheckOrder says why the offsets of the batch at position, of which no checksum
// covers the base, cannot be right, nil if they can: they are at or above next,
// which is due there, and below end. Behind a gap, as compaction leaves, the
// batch must not reach into the one that follows either.
//
// With an error comes the position to give to Resync: of two batches that
// overlap, the second is taken for the wrong one as well, unless what is due or
// what follows agrees with it.
func CheckOrder(log []byte, h *record.BatchHeader, position, next, end int64) (bad int64, err error) {
	switch {
	case h.BaseOffset < next:
		return position, fmt.Errorf("%w: base offset %d, want at least %d", record.ErrCorrupt, h.BaseOffset, next)
	case h.NextOffset() > end:
		return position, fmt.Errorf("%w: last offset %d, but the segment ends at %d", record.ErrCorrupt, h.LastOffset(), end-1)
	case h.BaseOffset == next:
		return 0, nil
	}
	after := position + int64(h.Size)
	second, err := record.ParseHeader(log[min(after, int64(len(log))):])
	if err != nil || second.BaseOffset < next || second.BaseOffset >= h.NextOffset() {
		return 0, nil
	}
	if _, err := record.Parse(log[after:]); err != nil {
		return 0, nil
	}
	err = fmt.Errorf("%w: base offset %d, but the batch behind it has %d", record.ErrCorrupt, h.BaseOffset, second.BaseOffset)
	follows := second.BaseOffset == next+h.NextOffset()-h.BaseOffset || second.NextOffset() == end
	if third, perr := record.ParseHeader(log[after+int64(second.Size):]); perr == nil {
		follows = third.BaseOffset == second.NextOffset()
	}
	if follows {
		return position, err
	}
	return after, err
}
