package power

// cleaned compares what compaction, come to its end or not, has left below an
// offset with what was there, and lets the model forget what it may have taken.
//
// It may take a record without a key, one of an aborted transaction, one with a
// later record of its key below that offset, and a tombstone that an earlier
// cleaning has seen long enough ago, but then no older record of its key may be
// left. Nothing else.
func (x *machine) cleaned(below int64) {
	m := x.m
	newestOf := map[int64]*batch{}
	for _, id := range m.ids() {
		if p := m.producer(id); m.has(p.data) {
			newestOf[id] = p.data
		} else if p.data == nil && m.has(p.newest) {
			newestOf[id] = p.newest
		}
	}
	for _, b := range m.batches {
		b.pinned = newestOf[b.pid] == b
	}
	m.compacted = max(m.compacted, below)
	there := map[int64]bool{}
	for got, err := range x.l.From(m.first) {
		if err != nil {
			x.failf("reading after a compaction: %v", err)
		}
		there[got.Offset] = true
	}
	txns := m.txns()
	newest := map[string]*rec{} // below, of what counts
	for _, b := range m.live() {
		if isAborted(txns, b) || !isDecided(txns, b) {
			continue
		}
		for _, r := range b.recs {
			if r.key != nil && r.offset < below && r.offset >= m.first && !r.gone {
				newest[string(r.key)] = r
			}
		}
	}
	now := x.now.UnixMilli()
	for _, b := range m.live() {
		for _, r := range b.recs {
			if r.gone || r.offset < m.first {
				continue
			}
			if there[r.offset] {
				if r.offset < below && r.seen == 0 {
					r.seen = now
				}
				continue
			}
			if why := x.mayGo(r, b, txns, newest[string(r.key)], below); why != "" {
				x.failf("compaction below %d took the record at offset %d, key %q: %s", below, r.offset, r.key, why)
			}
			r.gone = true
		}
	}
	for _, b := range m.live() {
		for _, r := range b.recs {
			if n := newest[string(r.key)]; !r.gone && r.key != nil && n != nil && r.offset >= m.first && r.offset < n.offset && n.gone &&
				!isAborted(txns, b) {
				x.failf("compaction took the tombstone at offset %d of key %q, and left the older record at %d", n.offset, r.key, r.offset)
			}
		}
	}
}

// mayGo says why compaction may not take a record, "" if it may. newest is the
// newest record of its key.
func (x *machine) mayGo(r *rec, b *batch, txns []txn, newest *rec, below int64) string {
	switch {
	case r.offset >= below:
		return "it was not to be cleaned"
	case isAborted(txns, b), r.key == nil:
		return ""
	case newest == nil || newest.offset < r.offset:
		return "its transaction is not decided"
	case newest != r:
		return ""
	case r.value != nil:
		return "it is the newest of its key"
	case r.seen == 0 || x.now.UnixMilli() < r.seen+x.set.compact.DeleteRetention.Milliseconds():
		return "it is a tombstone whose time has not come"
	}
	return ""
}
