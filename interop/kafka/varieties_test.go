package kafka

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// variety is a way to write a directory through the engine. To add one is to
// add a row.
type variety struct {
	name  string
	o     log.Options // SegmentBytes is 64 KiB where none is set
	write func(*writer)

	// binary has keys and values that a dump cannot show in a line.
	binary bool
	// unclean is served by a broker only after it has recovered the directory:
	// the state beside the batches (aborted transactions, producers) is not
	// written by us, or the files were not closed.
	unclean bool
	// untidy was not closed: it has room allocated for more, which a dump does
	// not take for nothing.
	untidy bool
	// gaps are in its offsets, on purpose.
	gaps bool
	// timeless segments hide what is behind them from Kafka's lookup by time: it
	// takes the modification time of the file for the segment's largest, finds
	// nothing in it, and looks no further.
	timeless bool
	// unserved is not given to a broker, for this reason.
	unserved string
	// intervals are the index intervals it is written with; both of
	// indexIntervals where there are none.
	intervals []int64
}

// indexIntervals are the engine's default and Kafka's.
var indexIntervals = []int64{1 << 10, 4 << 10}

// varieties are the rows. The codecs and timestamp types multiply.
func varieties() []variety {
	list := []variety{
		{name: "empty", write: func(*writer) {}},
		{name: "one-record", write: func(w *writer) { w.fill(1) }},
		{name: "nulls-and-headers", write: nullsAndHeaders},
		{name: "binary", binary: true, write: binaryBytes},
		{name: "times-unordered", write: timesUnordered},
		{name: "times-none", timeless: true, write: func(w *writer) {
			for range 300 {
				w.client(record.BatchOptions{}, record.Record{Value: []byte(strings.Repeat("timeless ", 30))})
			}
			w.fill(400)
		}},
		{name: "batch-sizes", o: log.Options{SegmentBytes: 4 << 20}, write: batchSizes},
		{name: "from-clients", write: fromClients},
		{name: "rolled-by-size", write: func(w *writer) {
			w.fill(3000)
			assert.GreaterOrEqual(w.t, w.rolled["full"], 5)
		}},
		{name: "rolled-by-age", o: log.Options{SegmentBytes: 1 << 20, SegmentAge: 10 * time.Minute}, write: func(w *writer) {
			w.now -= (6 * time.Hour).Milliseconds()
			for range 60 {
				w.append(w.records(5, 200)...)
				w.tick(3 * time.Minute)
			}
			assert.GreaterOrEqual(w.t, w.rolled["age"], 10)
		}},
		{name: "rolled-by-index", o: log.Options{SegmentBytes: 8 << 10}, intervals: []int64{4 << 10}, write: func(w *writer) {
			for range 40 { // as many time entries as the index has room for
				w.append(w.records(1, 20)...)
				w.reopen()
			}
			assert.GreaterOrEqual(w.t, w.rolled["index full"], 1)
		}},
		{name: "rolled-by-offsets", gaps: true, write: func(w *writer) {
			w.fill(50)
			for _, gap := range []int64{1 << 20, 1<<31 - 100, 1<<31 - 100, 7} {
				w.leader(gap, record.BatchOptions{}, w.records(3, 100)...)
				w.append(w.records(3, 100)...)
			}
			assert.GreaterOrEqual(w.t, w.rolled["offsets out of reach"], 1)
		}},
		{name: "gaps", gaps: true, write: func(w *writer) {
			for i := range 300 {
				w.leader(int64(i%4), record.BatchOptions{Codec: record.Codec(i % 5)}, w.records(1+i%5, 150)...)
			}
		}},
		{name: "reopened", write: func(w *writer) {
			for i := range 20 {
				w.fill((i + 1) * 100)
				w.reopen()
			}
		}},
		{name: "cut", write: cut},
		{name: "cut-to-nothing", write: func(w *writer) {
			w.fill(1000)
			w.cut(0)
			w.fill(500)
		}},
		{name: "dropped", write: func(w *writer) {
			w.fill(2000)
			w.drop(777)
			w.fill(2000)
			w.reopen()
			w.drop(1234)
		}},
		{name: "dropped-all", write: func(w *writer) {
			w.fill(1000)
			w.drop(w.l.End())
			w.reopen()
		}},
		{name: "dropped-and-refilled", write: func(w *writer) {
			w.fill(1000)
			w.drop(w.l.End())
			w.fill(700)
		}},
		{name: "leader-epochs", unserved: "its epochs are above the broker's; TestLeaderEpochsAgree has one served whose are not", write: func(w *writer) {
			for i := range 300 {
				w.leader(0, record.BatchOptions{LeaderEpoch: int32(i / 50 * 3)}, w.records(3, 150)...)
			}
		}},
		{name: "idempotent", write: func(w *writer) { idempotent(w, 0) }},
		{name: "sequences-wrap", write: func(w *writer) { idempotent(w, 1<<31-500) }},
		{name: "transactions", write: transactions(how{client: true})},
		{name: "transactions-epoch-raised", write: transactions(how{client: true, raised: true})},
		{name: "transactions-replicated", write: transactions(how{raised: true})},
		{name: "transactions-open", write: transactions(how{raised: true, open: true})},
		{name: "transactions-recovered", unclean: true, write: transactions(how{client: true, raised: true})},
		{name: "compacted", o: log.Options{Compaction: &byMinute}, gaps: true, write: compactedByUs},
		{name: "compacted-transactions", o: log.Options{Compaction: &byMinute}, gaps: true, write: compactedTransactions},
		{name: "killed-and-reopened", intervals: []int64{1 << 10}, write: func(w *writer) { killed(w); w.reopen(); w.fill(len(w.all) + 300) }},
		{name: "killed", unclean: true, untidy: true, intervals: []int64{1 << 10}, write: killed},
	}
	for codec := record.None; codec <= record.Zstd; codec++ {
		for _, kind := range []record.TimestampType{record.CreateTime, record.LogAppendTime} {
			list = append(list, variety{
				name:  strings.ToLower(fmt.Sprintf("%s-%s", codec, kind)),
				o:     log.Options{Compression: codec, TimestampType: kind},
				write: func(w *writer) { w.fill(3000) },
			})
		}
	}
	return list
}

func nullsAndHeaders(w *writer) {
	h := func(key string, value []byte) record.Header { return record.Header{Key: key, Value: value} }
	for i := range 400 {
		r := w.records(1, 60)[0]
		switch i % 5 {
		case 0:
			r.Key = nil
		case 1:
			r.Value = nil
		case 2:
			r.Key, r.Value = []byte{}, []byte{}
		case 3:
			r.Key, r.Value = nil, nil
		}
		switch i % 4 {
		case 0:
			r.Headers = []record.Header{h("null", nil), h("empty", []byte{}), h("", []byte("no key"))}
		case 1:
			r.Headers = []record.Header{h("twice", []byte("1")), h("twice", []byte("2")), h("größe", []byte("ü"))}
		}
		w.append(r, r)
	}
}

func binaryBytes(w *writer) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		r := w.records(1, 1)[0]
		for _, b := range []*[]byte{&r.Key, &r.Value} {
			*b = make([]byte, random.IntN(300))
			for j := range *b {
				(*b)[j] = byte(random.Uint32())
			}
		}
		r.Headers = []record.Header{{Key: "bytes", Value: r.Key}}
		w.leader(0, record.BatchOptions{Codec: record.Codec(i % 5)}, r, w.records(1, 10)[0])
	}
}

func timesUnordered(w *writer) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		list := w.records(1+random.IntN(10), 120)
		for i := range list {
			list[i].Time = list[i].Time.Add(time.Duration(random.IntN(2_000_000)-1_000_000) * time.Millisecond)
		}
		w.append(list...)
	}
}

func batchSizes(w *writer) {
	for i, n := range []int{1, 2, 3000, 1, 100, 7, 1, 1000} {
		w.append(w.records(n, 90)...)
		w.append(w.records(1, i*300_000)...)
	}
	w.append(record.Record{Time: time.UnixMilli(w.now)})
}

// fromClients is what a broker takes: batches of all codecs, with and without
// a producer, some with wrong times, into one log.
func fromClients(w *writer) {
	sequence := int32(0)
	for i := range 500 {
		list := w.records(1+i%9, 100)
		o := record.BatchOptions{Codec: record.Codec(i % 5)}
		if i%3 == 0 {
			o.Producer = &record.Producer{ID: ids + 9, Sequence: sequence}
			sequence += int32(len(list))
		}
		if i%7 == 0 { // put right by the log
			o.TimestampType, o.AppendTime = record.LogAppendTime, time.UnixMilli(1)
		}
		w.client(o, list...)
	}
}

func cut(w *writer) {
	for _, back := range []int64{1, 17, 400, 900, 5} {
		w.fill(len(w.all) + 1000)
		w.cut(w.l.End() - back)
		if back == 900 {
			w.reopen()
		}
	}
	w.fill(len(w.all) + 20)
}
