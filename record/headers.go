package record

// readHeaders reads the headers from body at i into d.headers. They end where
// body does.
func (d *Decoder) readHeaders(body []byte, i int) error {
	count, i := varint(body, i)
	// A header is two bytes at least.
	if i < 0 || count < 0 || int(count) > (len(body)-i)/2 {
		return corruptf("header count %d, %d bytes from the record's end", count, len(body)-i)
	}
	if count > MaxHeaders {
		return tooLargef("header count %d, limit %d", count, MaxHeaders)
	}
	old := d.headers[:cap(d.headers)]
	d.headers = d.headers[:0]
	for n := range int(count) {
		keyLen, j := varint(body, i)
		if keyLen < 0 {
			j = -1 // a header's key cannot be null
		}
		key, j := bytesAt(body, j, keyLen)
		valueLen, j := varint(body, j)
		value, j := bytesAt(body, j, valueLen)
		if j < 0 {
			return corruptf("header %d of %d, %d bytes from the record's end: key length %d, value length %d",
				n, count, len(body)-i, keyLen, valueLen)
		}
		h := Header{Value: value}
		// The records of a log mostly have the same header keys: the
		// string made for the last record serves this one.
		if n < len(old) && old[n].Key == string(key) {
			h.Key = old[n].Key
		} else {
			h.Key = string(key)
		}
		d.headers = append(d.headers, h)
		i = j
	}
	if i != len(body) {
		return corruptf("%d bytes behind a record's last header", len(body)-i)
	}
	return nil
}
