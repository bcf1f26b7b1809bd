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
	latest, err := ReadAll(b, d)
	if err != nil {
		return err
	}
	// An empty batch keeps the time of the records it had, and one with
	// LogAppendTime has it from the log.
	if b.Count > 0 && b.TimestampType() == CreateTime && latest != b.MaxTimestamp {
		return corruptf("max timestamp %d, largest of the records %d", b.MaxTimestamp, latest)
	}
	return nil
}

// ReadAll reads all records of b with d, as Validate does, and gives the largest of
// their times in ms, -1 if none has one; under LogAppendTime it means nothing.
func ReadAll(b Batch, d *Decoder) (latest int64, err error) {
	if err := d.Reset(b); err != nil {
		return noTimestamp, err
	}
	latest = noTimestamp
	var r Record
	for {
		if !b.Control() { // whose records are looked into
			latest = d.skim(latest)
		}
		ok, err := d.Next(&r)
		if err != nil || !ok {
			return latest, err
		}
		latest = max(latest, d.millis)
		if b.Control() {
			if err := validateControl(&r); err != nil {
				return latest, err
			}
		}
	}
}

func validateControl(r *Record) error {
	t, err := ParseControl(r.Key)
	if err == nil && (t == ControlAbort || t == ControlCommit) {
		_, err = ParseEndTxn(r.Value)
	}
	return err
}
