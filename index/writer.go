package index

// Batch is what the indexes keep of a record batch.
type Batch struct {
	Position     int64 // of its first byte in the log
	LastOffset   int64
	MaxTimestamp int64 // ms, -1 where no record has one
}

// timeStride spaces the time entries: a batch may add one only if the last
// indexed batch began in an earlier stride of the log. It is Kafka's default
// index.interval.bytes, so at that interval or above every offset entry may
// bring a time entry, exactly as in Kafka, while a denser offset index does
// not make the time index, half as wide again, outgrow it.
const timeStride = 4096

// Writer decides, batch by batch, what the two indexes of a segment hold. Live
// appends, recovery and rebuilding all go through it, so they write the same.
//
// An entry is added for a batch that starts more than Interval bytes behind
// the last indexed one (at first: behind the start of the log). Kafka counts
// bytes from when it opened the segment; counting from the last entry gives
// the same in one session and does not depend on sessions.
type Writer struct {
	Interval int64 // bytes, Kafka's index.interval.bytes
	Offsets  *Offsets
	Times    *Times

	last int64     // position of the last indexed batch
	max  TimeEntry // the largest timestamp and the last offset of its batch
}

// NewWriter continues two indexes whose entries are all true. max is the
// largest timestamp of the batches that neither Observe nor Add will be given.
func NewWriter(interval int64, o *Offsets, t *Times, max TimeEntry) Writer {
	return Writer{Interval: interval, Offsets: o, Times: t, last: o.Last().Position, max: max}
}

// Max is the largest timestamp so far, -1 for none, and the last offset of the
// earliest batch that has it.
func (w *Writer) Max() TimeEntry { return w.max }

// Wants says whether Add of a batch at that position will add entries, and so
// needs room for one in each index.
func (w *Writer) Wants(position int64) bool { return position-w.last > w.Interval }

// Observe takes a batch that the offset index knows already, for its timestamp.
func (w *Writer) Observe(b Batch) {
	if b.MaxTimestamp > w.max.Timestamp {
		w.max = TimeEntry{Timestamp: b.MaxTimestamp, Offset: b.LastOffset}
	}
}

// Add takes the next batch of the log.
func (w *Writer) Add(b Batch) error {
	w.Observe(b)
	if !w.Wants(b.Position) {
		return nil
	}
	if err := w.Offsets.Append(OffsetEntry{Offset: b.LastOffset, Position: b.Position}); err != nil {
		return err
	}
	strideBegun := w.last/timeStride != b.Position/timeStride
	w.last = b.Position
	if !strideBegun {
		return nil
	}
	return w.Times.Append(w.max)
}

// Close adds the entry that lets the time index of a finished segment tell its
// largest timestamp.
func (w *Writer) Close() error {
	if w.max.Timestamp < 0 {
		return nil
	}
	return w.Times.Append(w.max)
}

// Interval is the spacing that keeps the offset index of a full segment within
// maxBytes: the one wanted, or a wider one where that would outgrow it.
func Interval(want, segmentBytes, maxBytes int64) int64 {
	return max(want, (segmentBytes*OffsetEntrySize+maxBytes-1)/maxBytes)
}
