package record

// Thinner makes of a batch what compaction leaves of it. The zero value works;
// it owns a buffer and reuses it. It is not for concurrent use.
type Thinner struct {
	records []byte // before they are compressed
}

// Thin appends to dst the batch with header h and that payload with the records
// in kept only, which are one at least and in order. It keeps its range of
// offsets, its codec and what it says of its producer; a horizon, in ms, becomes
// its delete horizon (KIP-534), nil leaves it the one it has.
//
// Times are told anew from the base timestamp, which is the horizon or else
// the time of the first record.
func (t *Thinner) Thin(dst []byte, h BatchHeader, payload []byte, kept []Raw, horizon *int64) ([]byte, error) {
	old := h.BaseTimestamp
	logTime, fixed := h.MaxTimestamp, h.TimestampType() == LogAppendTime
	millis := func(r *Raw) int64 {
		if fixed {
			return logTime
		}
		return old + r.TimeDelta
	}
	switch _, has := h.DeleteHorizon(); {
	case horizon != nil:
		h.BaseTimestamp, h.Attributes = *horizon, h.Attributes|attrDeleteHorizon
	case !has:
		h.BaseTimestamp = millis(&kept[0])
	}
	h.Count, h.MaxTimestamp = int32(len(kept)), noTimestamp
	start := len(dst)
	dst = append(dst, make([]byte, HeaderSize)...)
	out := dst
	if h.Codec() != None {
		out = t.records[:0]
	}
	for i := range kept {
		r := &kept[i]
		ms := millis(r)
		h.MaxTimestamp = max(h.MaxTimestamp, ms)
		out = r.encode(out, payload, ms-h.BaseTimestamp)
	}
	if c := h.Codec(); c == None {
		dst = out
	} else {
		t.records = out
		var err error
		if dst, err = compress(c, dst, out); err != nil {
			return nil, err
		}
	}
	batch := dst[start:]
	if len(batch) > MaxBatchSize {
		return nil, tooLargef("batch of %d bytes, limit %d", len(batch), MaxBatchSize)
	}
	h.Size = len(batch)
	h.put(batch)
	return dst, nil
}

// encode appends the record with another time delta.
func (r *Raw) encode(out, payload []byte, timeDelta int64) []byte {
	if timeDelta == r.TimeDelta {
		return append(out, payload[r.At:r.End]...)
	}
	body := 1 + varlongLen(timeDelta) + varintLen(r.OffsetDelta) + r.End - r.rest
	var head [maxVarintLen + 1 + maxVarlongLen + maxVarintLen]byte
	i := putVarint(head[:], 0, int32(body))
	i++ // attributes, unused
	i = putVarlong(head[:], i, timeDelta)
	i = putVarint(head[:], i, r.OffsetDelta)
	return append(append(out, head[:i]...), payload[r.rest:r.End]...)
}

// Emptied is the batch with header h without any record, as compaction leaves
// it where the log must not forget its producer or its offsets: not compressed,
// without a base timestamp or horizon, the largest timestamp kept.
func Emptied(h BatchHeader) []byte {
	h.Attributes &= attrLogAppendTime | attrTransactional | attrControl
	h.BaseTimestamp, h.Count, h.Size = noTimestamp, 0, HeaderSize
	raw := make([]byte, HeaderSize)
	h.put(raw)
	return raw
}
