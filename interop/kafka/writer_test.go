package kafka

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// writer writes a directory through the engine and keeps what it has to hold.
type writer struct {
	t   *testing.T
	dir string
	o   log.Options
	l   *log.Log
	b   record.Builder

	all []found // every record that was not cut off again
	now int64   // the log's clock, ms
	// rolled counts new segments by their reason.
	rolled map[string]int
	// open transactions by producer id: where in all they begin.
	open map[int64][]int
}

// startTime is that of the first record; Kafka's broker keeps a week.
var startTime = time.Now().Add(-time.Hour).UnixMilli()

func newWriter(t *testing.T, dir string, o log.Options) *writer {
	w := &writer{t: t, dir: dir, o: o, now: startTime, rolled: map[string]int{}, open: map[int64][]int{}}
	w.o.Env.Now = func() time.Time { return time.UnixMilli(w.now) }
	w.o.Trace.Rolled = func(e log.RollEvent) { w.rolled[e.Reason]++ }
	w.reopen()
	return w
}

// reopen closes the log cleanly, if it is open, and opens it.
func (w *writer) reopen() {
	w.t.Helper()
	w.close()
	l, err := log.Open(w.t.Context(), w.dir, w.o)
	require.NoError(w.t, err)
	w.l = l
}

func (w *writer) close() {
	w.t.Helper()
	if w.l != nil {
		require.NoError(w.t, w.l.Close())
		w.l = nil
	}
}

// tick moves the log's clock.
func (w *writer) tick(d time.Duration) { w.now += d.Milliseconds() }

// keep notes records as appended from first on.
func (w *writer) keep(first int64, records []record.Record, kind record.TimestampType) {
	for i, r := range records {
		r.Offset, r.TimestampType = first+int64(i), kind
		if kind == record.LogAppendTime {
			r.Time = time.UnixMilli(w.now)
		}
		w.all = append(w.all, line(r))
	}
}

// append is Log.Append.
func (w *writer) append(records ...record.Record) {
	w.t.Helper()
	first, err := w.l.Append(records...)
	require.NoError(w.t, err)
	w.keep(first, records, w.o.TimestampType)
}

// client is a batch as a producer sends it.
func (w *writer) client(o record.BatchOptions, records ...record.Record) {
	w.t.Helper()
	at, err := w.l.AppendBatch(w.build(o, records), log.FromClient)
	require.NoError(w.t, err)
	w.opened(o, len(records))
	w.keep(at.First, records, w.o.TimestampType)
}

// leader is a batch as another replica has it, gap offsets behind the end.
func (w *writer) leader(gap int64, o record.BatchOptions, records ...record.Record) {
	w.t.Helper()
	o.BaseOffset = w.l.End() + gap
	_, err := w.l.AppendBatch(w.build(o, records), log.FromLeader)
	require.NoError(w.t, err)
	if o.Control {
		return
	}
	w.opened(o, len(records))
	if o.TimestampType == record.LogAppendTime {
		w.now = o.AppendTime.UnixMilli()
	}
	w.keep(o.BaseOffset, records, o.TimestampType)
}

// opened notes that the next n records are of an open transaction.
func (w *writer) opened(o record.BatchOptions, n int) {
	for i := 0; i < n && o.Transactional; i++ {
		w.open[o.Producer.ID] = append(w.open[o.Producer.ID], len(w.all)+i)
	}
}

// marker ends a producer's transaction, as the transaction coordinator does.
func (w *writer) marker(p record.Producer, outcome record.ControlType) {
	w.t.Helper()
	p.Sequence = -1
	w.leader(0, record.BatchOptions{Producer: &p, Transactional: true, Control: true}, record.Record{
		Key: record.ControlKey(outcome), Value: record.EndTxnValue(0), Time: time.UnixMilli(w.now)})
	w.ended(p.ID, outcome)
}

// end ends a producer's transaction as a broker has the engine do it.
func (w *writer) end(p record.Producer, outcome record.ControlType, raised bool) {
	w.t.Helper()
	_, err := w.l.EndTransaction(log.EndTxn{ProducerID: p.ID, Epoch: p.Epoch, EpochRaised: raised, Commit: outcome == record.ControlCommit})
	require.NoError(w.t, err)
	w.ended(p.ID, outcome)
}

func (w *writer) ended(id int64, outcome record.ControlType) {
	for _, i := range w.open[id] {
		w.all[i].aborted = outcome == record.ControlAbort
	}
	delete(w.open, id)
}

// stable is the last stable offset: where the earliest open transaction began.
func (w *writer) stable() int64 {
	stable := w.l.End()
	for _, list := range w.open {
		if len(list) > 0 {
			stable = min(stable, w.all[list[0]].offset)
		}
	}
	return stable
}

func (w *writer) build(o record.BatchOptions, records []record.Record) []byte {
	w.t.Helper()
	w.b.Reset(o)
	for i := range records {
		require.NoError(w.t, w.b.Add(&records[i]))
	}
	raw, err := w.b.Build()
	require.NoError(w.t, err)
	return raw
}

// cut is DropFrom.
func (w *writer) cut(offset int64) {
	w.t.Helper()
	require.NoError(w.t, w.l.DropFrom(offset))
	for len(w.all) > 0 && w.all[len(w.all)-1].offset >= w.l.End() {
		w.all = w.all[:len(w.all)-1]
	}
}

// drop is DropBefore.
func (w *writer) drop(offset int64) {
	w.t.Helper()
	require.NoError(w.t, w.l.DropBefore(offset))
	w.all = from(w.all, offset)
}

// records makes n of them, of about size bytes, a little later each.
func (w *writer) records(n, size int) []record.Record {
	list := make([]record.Record, n)
	for i := range list {
		w.now += 7
		id := fmt.Sprintf("%d-%d", w.l.End()+int64(i), len(w.all))
		list[i] = record.Record{Time: time.UnixMilli(w.now), Key: []byte("key " + id),
			Value: []byte("value " + id + " " + strings.Repeat("lorem ipsum dolor ", size/18+1)[:size])}
	}
	return list
}

// fill appends batches of 1 to 30 records until the log has that many records.
func (w *writer) fill(records int) {
	for i := 0; len(w.all) < records; i++ {
		w.append(w.records(1+i*7%30, 40+i*31%300)...)
	}
}
