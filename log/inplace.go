package log

import (
	"errors"
	"math"

	"github.com/seglog/seglog/internal/invariants"
	"github.com/seglog/seglog/record"
)

// maxInPlace is the size up to which a batch is encoded where it is to be, under
// the lock. A larger one is encoded before, by as many goroutines as there are, and
// goes to the file by a write.
const maxInPlace = 64 << 10

// appendInPlace appends a batch that only has to be stored: uncompressed, with
// nothing to say against it, and in a segment that has the room made for it. Else
// ok is false and nothing has happened: appendRecords goes the long way, which
// makes the room or says what is wrong.
func (l *Log) appendInPlace(records []record.Record) (first int64, ok bool, err error) {
	set := l.settings.Load()
	if set.Compression != record.None || !l.marked.Load() {
		return -1, false, nil
	}
	if set.Compaction != nil {
		for i := range records {
			if l.checkKey(&records[i]) != nil {
				return -1, false, nil
			}
		}
	}
	var d record.Draft
	if !d.Reset(records, set.TimestampType, min(maxInPlace, l.opts.MaxBatchBytes), l.opts.Env.Now) {
		return -1, false, nil
	}
	first, ok, err = l.placeDraft(&d, records)
	if ok {
		l.appended.Notify()
	}
	return first, ok, err
}

func (l *Log) placeDraft(d *record.Draft, records []record.Record) (first int64, ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writableLocked() != nil || l.mu.epochsBehind || l.mu.state.led > l.epoch.Load() {
		return -1, false, nil
	}
	first = l.end.Load()
	s, bound := l.mu.active, int64(d.Bound())
	if first > math.MaxInt64-math.MaxInt32 || !s.Fits(bound) || l.rollReasonLocked(bound, &d.BatchHeader, first) != "" {
		return -1, false, nil
	}
	d.LeaderEpoch = l.mu.state.led
	if err := s.AppendDraft(d, records, first); err != nil {
		if errors.Is(err, record.ErrInvalid) {
			return -1, false, err
		}
		return -1, false, l.failLocked(err)
	}
	invariants.Pause("appended, not published")
	l.end.Store(first + int64(d.Count))
	return first, true, nil
}
