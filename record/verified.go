package record

// Verified is Parse without the checksum, for bytes that Parse has accepted
// before: the batches of a run that was verified when it was made.
func Verified(b []byte) (Batch, error) {
	var x Batch
	if err := x.parse(b); err != nil {
		return Batch{}, err
	}
	if len(b) < x.Size {
		return Batch{}, ErrShort
	}
	x.raw = b[:x.Size:x.Size]
	return x, nil
}
