package record

// Validate reads all records of b with d and says whether they are what the
// header says: as many as it counts, at strictly increasing offsets within
// its range, filling the payload exactly, with the largest time it names.
// Control records are held to their format too. Of a batch that passes, a
// Decoder reads every record.
//
// What compaction leaves is valid: batches with records missing at any
// place, without any record, or with a delete horizon for a base timestamp.
// Whether a producer may send such a batch is not asked here.
//
// The error is ErrCorrupt or ErrTooLarge.
func Validate(b Batch, d *Decoder) error {
	if err := d.Reset(b); err != nil {
		return err
	}
	latest := int64(noTimestamp)
	var r Record
	for {
		ok, err := d.Next(&r)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		latest = max(latest, d.millis)
		if b.Control() {
			if err := validateControl(&r); err != nil {
				return err
			}
		}
	}
	// An empty batch keeps the time of the records it had, and one with
	// LogAppendTime has it from the log.
	if b.Count > 0 && b.TimestampType() == CreateTime && latest != b.MaxTimestamp {
		return corruptf("max timestamp %d, largest of the records %d", b.MaxTimestamp, latest)
	}
	return nil
}

func validateControl(r *Record) error {
	t, err := ParseControl(r.Key)
	if err == nil && (t == ControlAbort || t == ControlCommit) {
		_, err = ParseEndTxn(r.Value)
	}
	return err
}
