package log

import "github.com/seglog/seglog/internal/epochs"

// EpochEntry says that the records from Start on were written by the leader of
// Epoch, up to the Start of the next entry.
type EpochEntry = epochs.Entry

// SetLeaderEpoch notes that this log's owner leads the partition from End on, in
// that epoch; batches appended by it carry the epoch from now on (KIP-101). An
// epoch that is not above the newest one changes nothing.
func (l *Log) SetLeaderEpoch(epoch int32) error {
	if err := l.mark(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writableLocked(); err != nil {
		return err
	}
	if epoch <= l.mu.state.latestEpoch() {
		return nil
	}
	if err := l.noteEpochLocked(epoch, l.end.Load()); err != nil {
		return err
	}
	l.epoch.Store(epoch)
	return nil
}

// noteEpochLocked notes an epoch durably before a batch of it is there. To
// publish it is left to the caller.
func (l *Log) noteEpochLocked(epoch int32, start int64) error {
	next := l.mu.state
	if !next.assign(epoch, start) {
		return nil
	}
	if err := l.writeEpochs(&next); err != nil {
		l.mu.epochsBehind = true // it may be there all the same
		return err
	}
	l.mu.state.epochs, l.mu.state.led = next.epochs, next.led
	return nil
}

// LeaderEpoch is the newest leader epoch, -1 where there is none.
func (l *Log) LeaderEpoch() int32 {
	return atOnce(l, func(l *Log) int32 { return l.epoch.Load() })
}

// LeaderEpochs is the history of leader epochs, oldest first.
func (l *Log) LeaderEpochs() []EpochEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]EpochEntry(nil), l.mu.state.epochs.Entries()...)
}

// EndOffsetForEpoch answers a replica that asks where an epoch ended: the
// largest epoch here that is not above the one asked for, and the offset after
// its last record. ok is false where this log cannot tell. A follower cuts its
// log by it (KIP-101, KIP-279): DropFrom the smaller of the leader's answer and
// its own.
func (l *Log) EndOffsetForEpoch(epoch int32) (known int32, end int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.state.epochs.EndOffset(epoch, l.end.Load())
}
