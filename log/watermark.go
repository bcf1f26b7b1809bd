package log

// HighWatermark is the offset below which records are on every in-sync replica:
// as SetHighWatermark said, or End for a log that nobody replicates, which is
// its own only replica.
func (l *Log) HighWatermark() int64 {
	if l.replicated.Load() {
		return min(l.highWatermark.Load(), l.end.Load())
	}
	return l.end.Load()
}

// SetHighWatermark says how far the partition is replicated, clamped to [First,
// End]. From the first call on the high watermark is what was set, also after
// the log is opened again as a Follower. It is kept by the next checkpoint.
func (l *Log) SetHighWatermark(offset int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writableLocked(); err != nil {
		return err
	}
	l.highWatermark.Store(min(max(offset, l.First()), l.End()))
	l.replicated.Store(true)
	l.publishLocked()
	l.appended.Notify()
	return nil
}
