package compact

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

func memDisk(t testing.TB) *disk { return newDisk(t, vfs.NewMem(), "d", 64<<10) }

func kv(key, value string) record.Record {
	r := record.Record{Key: []byte(key), Time: noon}
	if value != "" {
		r.Value = []byte(value)
	}
	return r
}

func plain(t testing.TB, records ...record.Record) []byte {
	return encode(t, record.BatchOptions{LeaderEpoch: 3}, records...)
}

func of(t testing.TB, id int64, txn bool, records ...record.Record) []byte {
	return encode(t, record.BatchOptions{LeaderEpoch: -1, Transactional: txn, Producer: &record.Producer{ID: id}}, records...)
}

func marker(t testing.TB, id int64, kind record.ControlType) []byte {
	return encode(t, record.BatchOptions{LeaderEpoch: -1, Transactional: true, Control: true,
		Producer: &record.Producer{ID: id, Sequence: -1}},
		record.Record{Time: noon, Key: record.ControlKey(kind), Value: record.EndTxnValue(0)})
}

// offsets is what data is left, and where.
func (d *disk) offsets() (list []int64) {
	for _, r := range d.records() {
		list = append(list, r.Offset)
	}
	return list
}

func hour() Options { return Options{DeleteRetention: time.Hour} }

// TestUntouched: what loses nothing is left byte for byte: a batch, and the files
// of a segment.
func TestUntouched(t *testing.T) {
	d := memDisk(t)
	d.add(plain(t, kv("a", "1"), kv("b", "1")))
	d.add(plain(t, kv("c", "1")), plain(t, kv("d", "old")), plain(t, kv("d", "new")))
	d.cfg.Bytes = 1 // no grouping
	first := d.segments[0]
	p, err := d.segments[1].Pin()
	require.NoError(t, err)
	defer p.Release()
	before := p.Bytes()
	d.clean(0, hour())
	require.Same(t, first, d.segments[0])
	q, err := d.segments[1].Pin()
	require.NoError(t, err)
	defer q.Release()
	h, err := record.ParseHeader(before)
	require.NoError(t, err)
	d2, err := record.ParseHeader(before[h.Size:])
	require.NoError(t, err)
	require.Equal(t, append(bytes.Clone(before[:h.Size]), before[h.Size+d2.Size:]...), q.Bytes())
	require.Equal(t, []int64{0, 1, 2, 4}, d.offsets())
}

// TestKeyless: records without a key go where keys were mapped.
func TestKeyless(t *testing.T) {
	d := memDisk(t)
	d.add(plain(t, record.Record{Value: []byte("no key")}, record.Record{Key: []byte{}, Value: []byte("empty key")}))
	d.clean(0, hour())
	require.Equal(t, []int64{1}, d.offsets())
}

// TestHorizon: the first cleaning sets it, counted from its own time; later
// ones leave it; once it has passed the tombstone goes, and not before.
func TestHorizon(t *testing.T) {
	for _, codec := range []record.Codec{record.None, record.Gzip, record.Zstd} {
		d := memDisk(t)
		d.add(encode(t, record.BatchOptions{Codec: codec}, kv("a", ""), kv("b", "1")))
		d.clean(0, hour())
		h := d.headers()[0]
		at, ok := h.DeleteHorizon()
		require.True(t, ok)
		require.Equal(t, noon.Add(time.Hour).UnixMilli(), at)
		require.Equal(t, codec, h.Codec())
		require.Equal(t, noon.UnixMilli(), h.MaxTimestamp)
		require.Equal(t, noon, d.records()[0].Time)

		d.now = noon.Add(time.Hour - time.Millisecond)
		d.clean(0, hour())
		require.Equal(t, h, d.headers()[0])
		d.now = noon.Add(time.Hour)
		d.clean(0, hour())
		require.Equal(t, []int64{1}, d.offsets())
		again, ok := d.headers()[0].DeleteHorizon()
		require.True(t, ok, "a rewritten batch keeps it")
		require.Equal(t, at, again)
	}
}

// TestLogAppendTime: the batch's time stays, whatever records go.
func TestLogAppendTime(t *testing.T) {
	d := memDisk(t)
	d.add(encode(t, record.BatchOptions{TimestampType: record.LogAppendTime, AppendTime: noon}, kv("a", "1"), kv("b", "1"), kv("a", "")))
	d.clean(0, hour())
	require.Equal(t, []int64{1, 2}, d.offsets())
	for _, r := range d.records() {
		require.Equal(t, noon, r.Time)
	}
	require.Equal(t, noon.UnixMilli(), d.headers()[0].MaxTimestamp)
}

// TestLastOfProducer: the batch with a producer's newest sequence number stays,
// empty; when it is not the newest any more it goes.
func TestLastOfProducer(t *testing.T) {
	d := memDisk(t)
	d.add(of(t, 7, false, kv("a", "1"), kv("b", "1")), plain(t, kv("a", "2"), kv("b", "2")))
	run := func(last int64) {
		r := d.round(0, hour())
		r.Producers = map[int64]Producer{7: {LastOffset: last}}
		_, err := r.Run(context.Background())
		require.NoError(t, err)
	}
	run(1)
	h := d.headers()
	require.Len(t, h, 2)
	require.Equal(t, record.HeaderSize, h[0].Size)
	require.EqualValues(t, 7, h[0].ProducerID)
	require.EqualValues(t, 0, h[0].BaseSequence)
	require.EqualValues(t, 1, h[0].LastSequence())
	require.EqualValues(t, -1, h[0].BaseTimestamp)
	require.Equal(t, noon.UnixMilli(), h[0].MaxTimestamp)
	kept := d.segments[0]
	run(1)
	require.Same(t, kept, d.segments[0], "nothing to do")
	run(99)
	require.Len(t, d.headers(), 1)
}

// TestHighWatermarkBatch: the batch that ends at the high watermark stays.
func TestHighWatermarkBatch(t *testing.T) {
	d := memDisk(t)
	d.add(plain(t, kv("a", "1")), plain(t, record.Record{Value: []byte("no key")}))
	r := d.round(0, hour())
	r.HighWatermark = 2
	_, err := r.Run(context.Background())
	require.NoError(t, err)
	h := d.headers()
	require.Len(t, h, 2)
	require.EqualValues(t, 2, h[1].NextOffset())
	require.Zero(t, h[1].Count)
}

func (d *disk) txnIndex(base int64) []index.AbortedTxn {
	content, err := vfs.ReadFile(d.cfg.FS, filepath.Join(d.cfg.Dir, segment.Name(base, segment.TxnIndexSuffix)))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(d.t, err)
	list, err := index.DecodeTxns(content, base)
	require.NoError(d.t, err)
	return list
}

// TestTransactions: aborted data goes at once and its marker stays as it is, with
// its entry in the transaction index; the next cleaning, which meets no data,
// sets the marker's horizon and drops the entry; one after that drops the
// marker. A commit's marker waits for its data to be superseded.
func TestTransactions(t *testing.T) {
	d := memDisk(t)
	d.add(of(t, 7, true, kv("a", "aborted")), of(t, 8, true, kv("b", "1")), plain(t, kv("a", "1")),
		marker(t, 7, record.ControlAbort), marker(t, 8, record.ControlCommit))
	entry := index.AbortedTxn{ProducerID: 7, First: 0, Last: 3, LastStableOffset: 1}
	d.aborted = []index.AbortedTxn{entry}
	attributes := func() (list []string) {
		for _, h := range d.headers() {
			list = append(list, fmt.Sprintf("%d:%02x", h.BaseOffset, h.Attributes))
		}
		return list
	}
	clean := func(after time.Duration) {
		d.now, d.seen = noon.Add(after), nil
		d.clean(0, hour())
		d.aborted = d.txnIndex(0)
	}
	clean(0)
	require.Equal(t, []string{"1:10", "2:00", "3:30", "4:30"}, attributes())
	require.Equal(t, []index.AbortedTxn{entry}, d.txnIndex(0))
	clean(0)
	require.Equal(t, []string{"1:10", "2:00", "3:70", "4:30"}, attributes())
	require.Equal(t, 81, d.headers()[2].Size) // a delta of minus an hour takes three bytes more
	require.Empty(t, d.txnIndex(0))
	d.add(plain(t, kv("b", "2")))
	clean(time.Hour) // the marker's horizon has come; b of the commit is superseded now
	require.Equal(t, []string{"2:00", "4:30", "5:00"}, attributes())
	clean(time.Hour)
	require.Equal(t, []string{"2:00", "4:70", "5:00"}, attributes())
	clean(2 * time.Hour)
	require.Equal(t, []string{"2:00", "5:00"}, attributes())
}

// TestTransactionAcrossRounds: an entry does not go in the cleaning that its
// data goes in, however many rounds that has.
func TestTransactionAcrossRounds(t *testing.T) {
	d := memDisk(t)
	d.add(of(t, 7, true, kv("a", "aborted")), marker(t, 7, record.ControlAbort))
	d.aborted = []index.AbortedTxn{{ProducerID: 7, First: 0, Last: 1, LastStableOffset: 2}}
	d.clean(0, hour())
	d.clean(0, hour())
	require.Len(t, d.txnIndex(0), 1)
	d.seen = nil
	d.clean(0, hour())
	require.Empty(t, d.txnIndex(0))
}

// TestEmptyBatchIsData: an aborted batch that stays for its producer keeps its
// marker from getting a horizon.
func TestEmptyBatchIsData(t *testing.T) {
	d := memDisk(t)
	d.add(of(t, 7, true, kv("a", "aborted")), marker(t, 7, record.ControlAbort))
	d.aborted = []index.AbortedTxn{{ProducerID: 7, First: 0, Last: 1, LastStableOffset: 2}}
	for range 3 {
		d.seen = nil
		r := d.round(0, hour())
		r.Producers = map[int64]Producer{7: {LastOffset: 0}}
		_, err := r.Run(context.Background())
		require.NoError(t, err)
		h := d.headers()
		require.Len(t, h, 2)
		require.Zero(t, h[0].Count)
		require.EqualValues(t, 0x30, h[1].Attributes)
		require.Equal(t, d.aborted, d.txnIndex(0))
	}
}

// TestLastMarkerOfProducer: of a producer without data the marker with its epoch
// stays, after its horizon as an empty control batch (transaction.version 2).
func TestLastMarkerOfProducer(t *testing.T) {
	d := memDisk(t)
	d.add(marker(t, 7, record.ControlCommit), plain(t, kv("a", "1")))
	clean := func(after time.Duration, epoch int16) []record.BatchHeader {
		d.now = noon.Add(after)
		r := d.round(0, hour())
		r.Producers = map[int64]Producer{7: {LastOffset: -1, Epoch: epoch}}
		_, err := r.Run(context.Background())
		require.NoError(t, err)
		return d.headers()
	}
	require.EqualValues(t, 0x70, clean(0, 0)[0].Attributes)
	for range 2 {
		h := clean(time.Hour, 0)
		require.Len(t, h, 2)
		require.EqualValues(t, 0x30, h[0].Attributes)
		require.Zero(t, h[0].Count)
		require.EqualValues(t, -1, h[0].BaseTimestamp)
	}
	require.Len(t, clean(time.Hour, 1), 1)
}

// TestModificationTime: that of the last source, for retention goes by it where
// records have no timestamp.
func TestModificationTime(t *testing.T) {
	d := memDisk(t)
	d.add(plain(t, kv("a", "1")))
	d.add(plain(t, kv("a", "2")))
	require.NoError(t, d.cfg.FS.SetModTime(d.segments[1].Path(), noon))
	d.clean(0, hour())
	require.Len(t, d.segments, 1)
	for _, suffix := range []string{segment.LogSuffix, segment.IndexSuffix, segment.TimeIndexSuffix} {
		info, err := d.cfg.FS.Stat(filepath.Join("d", segment.Name(0, suffix)))
		require.NoError(t, err)
		require.True(t, info.ModTime().Equal(noon))
	}
}

// TestNothingLeftAtTheEnd: segments that lose everything leave no batch, at the
// end of what becomes one segment either.
func TestNothingLeftAtTheEnd(t *testing.T) {
	d := memDisk(t)
	d.add(plain(t, kv("a", "1")))
	d.add(plain(t, kv("b", "1")))
	d.add(plain(t, kv("b", "2")), plain(t, kv("b", "3")))
	d.add(plain(t, kv("b", "4")))
	d.cfg.Bytes = int64(4 * len(plain(t, kv("a", "1")))) // all but the last
	d.clean(0, hour())
	require.Equal(t, []int64{0, 4}, d.offsets())
	require.Len(t, d.segments, 2)
	require.EqualValues(t, 1, d.segments[0].Next())
	require.Len(t, d.headers(), 2)
}

// TestEmptyResult: a segment that loses everything is a file of no bytes.
func TestEmptyResult(t *testing.T) {
	d := memDisk(t)
	d.add(plain(t, kv("a", "1")))
	d.add(plain(t, kv("a", "2")))
	d.cfg.Bytes = 1
	d.clean(0, hour())
	require.Len(t, d.segments, 2)
	require.Zero(t, d.segments[0].Size())
	require.Equal(t, []int64{1}, d.offsets())
}

// TestDamage: nothing is made of a damaged segment, and the error says where.
func TestDamage(t *testing.T) {
	d := memDisk(t)
	d.add(plain(t, kv("a", "1")), plain(t, kv("a", "2")))
	f, err := d.cfg.FS.OpenFile(d.segments[0].Path(), os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("x"), d.segments[0].Size()-3)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	_, err = d.round(0, hour()).Run(context.Background())
	var damage *segment.DamageError
	require.ErrorAs(t, err, &damage)
	require.ErrorIs(t, err, record.ErrCorrupt)
	require.EqualValues(t, 1, damage.Offset)
	entries, err := d.cfg.FS.ReadDir("d")
	require.NoError(t, err)
	require.Len(t, entries, 3)
}

// TestCancelled: the end of ctx ends a round, which leaves no file.
func TestCancelled(t *testing.T) {
	d := memDisk(t)
	d.add(plain(t, kv("a", "1")), plain(t, kv("a", "2")))
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(os.ErrClosed)
	_, err := d.round(0, hour()).Run(ctx)
	require.ErrorIs(t, err, os.ErrClosed)
	entries, err := d.cfg.FS.ReadDir("d")
	require.NoError(t, err)
	require.Len(t, entries, 3)
}

// TestNoRoomToGrow: a batch that would outgrow the segment stays as it is, and
// dirty.
func TestNoRoomToGrow(t *testing.T) {
	raw := plain(t, kv("a", "1"), kv("b", ""))
	for _, room := range []int64{0, 100} {
		d := memDisk(t)
		d.add(raw)
		c := &cleaner{Round: d.round(0, hour()), newest: newKeyMap(minMapBytes, 1)}
		c.hash = func([]byte) uint64 { return 1 }
		c.tally.undone = 99
		c.main = newWorker(c)
		var j chunk
		require.NoError(t, j.fill(raw, 0))
		b := &j.batches[0]
		require.NoError(t, c.main.judge(&j, b))
		require.Equal(t, thinned, b.left)
		require.Greater(t, len(j.raw(b)), len(raw))
		g := &groupCopy{cleaner: c, behind: segment.MaxBytes - room, facts: []segment.Facts{d.segments[0].Facts()}}
		require.NoError(t, g.batch(&j, b))
		if room == 0 {
			require.Equal(t, raw, j.raw(b))
			require.Zero(t, c.tally.undone)
			require.Nil(t, g.out)
		} else {
			require.NotEqual(t, raw, j.raw(b))
			require.EqualValues(t, 99, c.tally.undone)
			require.NoError(t, g.out.close())
		}
	}
}
