package kafka

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention/compact"
)

// byMinute lets tombstones go after a minute.
var byMinute = compact.Options{DeleteRetention: time.Minute}

// keyed appends a record for each of n keys, a tombstone for every tenth.
func keyed(w *writer, round, n int, append func(...record.Record)) {
	list := w.records(n, 100)
	for i := range list {
		list[i].Key = fmt.Appendf(nil, "key %d", i)
		if i%10 == round%10 {
			list[i].Value = nil
		}
	}
	append(list...)
}

// compactedByUs writes the same keys again and again and has the engine
// compact, in between and, twice, at the end, so that tombstones go.
func compactedByUs(w *writer) {
	for round := range 40 {
		keyed(w, round, 50, w.append)
		w.append(record.Record{Key: fmt.Appendf(nil, "only in round %d", round), Value: []byte("v"), Time: time.UnixMilli(w.now)})
		if round%15 == 14 {
			w.compact()
		}
	}
	w.tick(2 * time.Minute)
	w.compact()
	w.fill(len(w.all) + 100)
}

// compactedTransactions is the same in transactions, every third aborted.
func compactedTransactions(w *writer) {
	p := record.Producer{ID: ids + 77}
	for round := range 40 {
		keyed(w, round, 40, func(list ...record.Record) {
			own := p
			w.client(record.BatchOptions{Producer: &own, Transactional: true}, list...)
		})
		p.Epoch, p.Sequence = p.Epoch+1, 0
		outcome := record.ControlCommit
		if round%3 == 0 {
			outcome = record.ControlAbort
		}
		w.end(p, outcome, true)
		if round%15 == 14 {
			w.tick(2 * time.Minute)
			w.compact()
		}
	}
}

// compact has the engine compact, and holds what is left against what has to
// be: nothing new, and of each key the newest record that was not aborted.
func (w *writer) compact() {
	w.t.Helper()
	result, err := w.l.Compact(w.t.Context())
	require.NoError(w.t, err)
	left := map[int64]string{}
	for _, f := range readAll(w.t, w.l) {
		left[f.offset] = f.text
	}
	newest := map[string]int64{}
	for _, f := range w.all {
		if !f.aborted {
			newest[f.key] = f.offset
		}
	}
	var kept []found
	for _, f := range w.all {
		text, is := left[f.offset]
		if is {
			require.Equal(w.t, f.text, text)
			kept = append(kept, f)
			delete(left, f.offset)
		}
		if !f.aborted && !f.null && newest[f.key] == f.offset {
			require.True(w.t, is, "the newest of its key is gone: %s", f.text)
		}
	}
	require.Empty(w.t, left, "records that nobody wrote")
	require.Less(w.t, len(kept), len(w.all), "%v", result)
	w.all = kept
}
