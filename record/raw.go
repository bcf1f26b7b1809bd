package record

// Raw is a record as far as compaction has to know it. It borrows the payload
// it was read from.
type Raw struct {
	At, End     int // where in the payload it lies, its length field included
	OffsetDelta int32
	TimeDelta   int64
	Key         []byte // nil is null
	Tombstone   bool   // its value is null
	rest        int    // where the key's length field begins
}

// Cursor walks the payload of a batch (see [Decoder.Payload]) record by record
// without looking at headers. It holds offsets to the batch's range as a
// Decoder does.
type Cursor struct {
	payload []byte
	pos     int
	left    int32
	prev    int32
	last    int32
}

// NewCursor is at the first record of the batch with that header and payload.
func NewCursor(h *BatchHeader, payload []byte) Cursor {
	return Cursor{payload: payload, left: h.Count, prev: -1, last: h.LastOffsetDelta}
}

// Next reads the next record into r; false at the end. The error is ErrCorrupt.
func (c *Cursor) Next(r *Raw) (bool, error) {
	if c.left == 0 {
		if n := len(c.payload) - c.pos; n > 0 {
			return false, corruptf("%d bytes behind the last record", n)
		}
		return false, nil
	}
	if !r.parse(c.payload, c.pos) || r.OffsetDelta <= c.prev || r.OffsetDelta > c.last {
		return false, corruptf("record at byte %d of %d, after offset delta %d of %d", c.pos, len(c.payload), c.prev, c.last)
	}
	c.left, c.prev, c.pos = c.left-1, r.OffsetDelta, r.End
	return true, nil
}

// KeyAt is the key of the record that begins at b, which may go on behind it;
// ok is false where there is no record.
func KeyAt(b []byte) (key []byte, ok bool) {
	var r Raw
	ok = r.parse(b, 0)
	return r.Key, ok
}

// parse reads the record at start of payload.
func (r *Raw) parse(payload []byte, start int) (ok bool) {
	size, i := varint(payload, start)
	if i < 0 || size < 0 || int(size) > len(payload)-i {
		return false
	}
	r.At, r.End = start, i+int(size)
	body := payload[:r.End]
	var keyLen, valueLen int32
	r.TimeDelta, i = varlong(body, i+1)
	r.OffsetDelta, i = varint(body, i)
	r.rest = i
	keyLen, i = varint(body, i)
	r.Key, i = bytesAt(body, i, keyLen)
	valueLen, i = varint(body, i)
	_, i = bytesAt(body, i, valueLen)
	r.Tombstone = valueLen == -1
	return i >= 0
}
