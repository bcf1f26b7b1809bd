package record

// Verified is Parse without the checksum, for bytes that Parse has accepted
// before: the batches of a run that was verified when it was made.
func Verified(b []byte) (Batch, error) {
	h, err := ParseHeader(b)
	if err != nil {
		return Batch{}, err
	}
	if len(b) < h.Size {
		return Batch{}, ErrShort
	}
	return Batch{BatchHeader: h, raw: b[:h.Size:h.Size]}, nil
}
