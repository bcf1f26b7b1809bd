package power

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// records makes a few records for offsets from first on, and what they are when
// they are read.
func (x *machine) records(first int64) (given []record.Record, want []*rec) {
	n := weighted(x.r, 1, 1, 2, 3, 5)
	size := weighted(x.r, 0, 4, 20, 60, 150)
	if x.set.large && x.r.IntN(3) == 0 {
		n, size = 1, 66<<10
	}
	for i := range n {
		x.sent++
		r := record.Record{Value: pad(x.sent, size/n), Time: x.now.Add(time.Duration(x.r.IntN(60)-30) * time.Second)}
		if keyed := x.r.IntN(8) > 0; x.set.compacts && (keyed || leads(x)) { // a leader's log has no others
			r.Key = fmt.Appendf(nil, "k%d", x.r.IntN(6))
			if x.r.IntN(6) == 0 {
				r.Value = nil
			}
		}
		if x.r.IntN(6) == 0 {
			r.Headers = []record.Header{{Key: "h", Value: []byte("v")}}
		}
		given = append(given, r)
		want = append(want, &rec{offset: first + int64(i), ms: r.Time.UnixMilli(), key: r.Key, value: r.Value, headers: len(r.Headers)})
	}
	return given, want
}

// pad is a value that no other record has, of about that size.
func pad(number, size int) []byte {
	b := fmt.Appendf(make([]byte, 0, size+8), "%d.", number)
	for len(b) < size {
		b = append(b, byte('a'+len(b)%26))
	}
	return b
}

// alignTo makes the last value longer so that the batch ends a few bytes before
// or behind the end of a sector: then the header of the next is in two.
func (x *machine) alignTo(given []record.Record, want []*rec, size func() int) {
	if x.r.IntN(4) > 0 || x.set.log.Compression != record.None || given[len(given)-1].Value == nil {
		return
	}
	infos := x.l.Segments()
	end := infos[len(infos)-1].Bytes + int64(size())
	aim := weighted[int64](x.r, 0, 1, 4, 7, 8, 9, 12, 14, 16, 20, 40)
	missing := ((-aim-end)%vfs.SectorSize + vfs.SectorSize) % vfs.SectorSize
	last := len(given) - 1
	given[last].Value = append(given[last].Value, pad(0, int(missing))[:missing]...)
	want[last].value = given[last].Value
}

// encode builds a batch as another program would.
func (x *machine) encode(o record.BatchOptions, records ...record.Record) []byte {
	var b record.Builder
	b.Reset(o)
	for i := range records {
		x.must(b.Add(&records[i]), "encoding")
	}
	raw, err := b.Build()
	x.must(err, "encoding")
	return raw
}

func (x *machine) sizeOf(records []record.Record) func() int {
	return func() int { return len(x.encode(record.BatchOptions{}, records...)) }
}

// stamp gives records the log's time where the log does.
func (x *machine) stamp(want []*rec) {
	if x.set.log.TimestampType == record.LogAppendTime {
		for _, r := range want {
			r.ms = x.now.UnixMilli()
		}
	}
}

// append is Append or AppendSync; a follower has it from its leader.
func (x *machine) append(sync bool) {
	if x.set.role.follows() {
		x.fromLeader()
		return
	}
	first := x.m.end
	given, want := x.records(first)
	x.alignTo(given, want, x.sizeOf(given))
	x.stamp(want)
	b := &batch{first: first, next: first + int64(len(given)), recs: want, pid: none}
	x.fly.batch = b
	var at int64
	var err error
	if sync {
		at, err = x.l.AppendSync(ctx, given...)
	} else {
		at, err = x.l.Append(given...)
	}
	if x.image != nil {
		return
	}
	if x.appended(b, at, err) && sync {
		x.synced()
	}
}

// appended takes in what was appended; it is false for a batch that no segment
// can hold.
func (x *machine) appended(b *batch, at int64, err error) bool {
	x.fly.batch = nil
	if errors.Is(err, record.ErrTooLarge) {
		return false
	}
	x.must(err, "appending "+b.String())
	if at != b.first {
		x.failf("appended at %d, want %d", at, b.first)
	}
	x.took(b)
	x.note("  %v", b)
	if !x.set.role.follows() && x.set.role != replicated {
		x.m.hw = x.m.end
	}
	return true
}

// took takes a batch in that is in the log. Its epoch is the log's to choose,
// where it leads, but none older than what is there.
func (x *machine) took(b *batch) {
	v, err := x.l.Borrow(b.first, 1)
	x.must(err, "Borrow of what was appended")
	defer v.Release()
	for got := range v.Batches() {
		b.epoch = got.LeaderEpoch
	}
	if live := x.m.live(); len(live) > 0 && b.epoch < live[len(live)-1].epoch {
		x.failf("%v was appended behind %v", b, live[len(live)-1])
	}
	x.m.append(b)
}

// appendEncoded is AppendBatch.
func (x *machine) appendEncoded(b *batch, raw []byte, from log.Source) bool {
	x.fly.batch = b
	at, err := x.l.AppendBatch(raw, from)
	if x.image != nil {
		return false
	}
	if err == nil && (at.Last != b.next-1 || at.Duplicate) {
		x.failf("appended as %+v, want %v", at, b)
	}
	return x.appended(b, at.First, err)
}

// fromLeader appends a batch that keeps its offsets, which may leave a gap.
func (x *machine) fromLeader() {
	if x.set.role.follows() && x.r.IntN(3) == 0 {
		if x.canEnd() && x.r.IntN(2) == 0 {
			x.endTransaction()
		} else {
			x.produce()
		}
		return
	}
	first := x.m.end + x.gap()
	given, want := x.records(first)
	x.alignTo(given, want, x.sizeOf(given))
	b := &batch{first: first, next: first + int64(len(given)), recs: want, pid: none}
	if x.r.IntN(12) == 0 { // a control batch that is about no transaction
		given, b.recs, b.control, b.next = []record.Record{{Key: record.ControlKey(record.ControlLeaderChange), Value: []byte{0, 0}, Time: x.now}}, nil, true, first+1
	}
	x.stamp(b.recs)
	x.replicate(b, record.BatchOptions{Control: b.control}, given)
}

// replicate appends a batch as a leader sent it.
func (x *machine) replicate(b *batch, o record.BatchOptions, given []record.Record) bool {
	b.epoch = x.epochOfLeader()
	o.BaseOffset, o.LeaderEpoch = b.first, b.epoch
	o.TimestampType, o.AppendTime, o.Codec = x.set.log.TimestampType, x.now, x.set.log.Compression
	return x.appendEncoded(b, x.encode(o, given...), log.FromLeader)
}

// gap is how many offsets are missing before the next batch, as compaction has
// left them where it comes from.
func (x *machine) gap() int64 {
	switch x.r.IntN(10) {
	case 0, 1:
		return 1 + x.r.Int64N(3)
	case 2: // past the next offset whose last byte is 0
		return 256 - x.m.end%256 + x.r.Int64N(256)
	}
	return 0
}

// epochOfLeader is what the leader puts into its batches.
func (x *machine) epochOfLeader() int32 {
	switch x.set.role {
	case oldStyle:
		return none
	case follower:
		if x.r.IntN(6) == 0 {
			x.leaderEpoch++
		}
		x.leaderEpoch = max(x.leaderEpoch, x.l.LeaderEpoch())
		return x.leaderEpoch
	}
	return max(x.l.LeaderEpoch(), 0)
}

// roll appends what fills the segment.
func (x *machine) roll() {
	x.sent++
	first := x.m.end
	value := pad(x.sent, int(min(x.set.log.SegmentBytes*2/3, 4000)))
	key := []byte("roll")
	given := []record.Record{{Key: key, Value: value, Time: x.now}}
	b := &batch{first: first, next: first + 1, pid: none, recs: []*rec{{offset: first, ms: x.now.UnixMilli(), key: key, value: value}}}
	x.stamp(b.recs)
	if x.set.role.follows() {
		x.replicate(b, record.BatchOptions{}, given)
		return
	}
	x.fly.batch = b
	at, err := x.l.Append(given...)
	if x.image == nil {
		x.appended(b, at, err)
	}
}

// produce appends a batch of an idempotent producer, or the last one again.
func (x *machine) produce() {
	p := x.m.producer(100 + x.r.Int64N(3))
	if x.m.has(p.data) && x.r.IntN(5) == 0 && !x.set.role.follows() {
		x.duplicate(p.data)
		return
	}
	first := x.m.end
	given, want := x.records(first)
	x.alignTo(given, want, x.sizeOf(given))
	x.stamp(want)
	b := &batch{first: first, next: first + int64(len(given)), recs: want, pid: p.pid, pepoch: max(p.epoch, 0), sequence: p.sequence + 1}
	b.txn = p.txnFirst != none || x.set.txns && x.r.IntN(2) == 0
	if p.txnFirst == none && p.epoch >= 0 && x.r.IntN(8) == 0 || x.forgotten(p) { // a new instance
		b.pepoch, b.sequence = p.epoch+1, 0
	}
	o := record.BatchOptions{Transactional: b.txn, Producer: &record.Producer{ID: b.pid, Epoch: b.pepoch, Sequence: b.sequence}}
	if x.set.role.follows() {
		x.replicate(b, o, given)
		return
	}
	o.Codec, o.LeaderEpoch = x.set.log.Compression, -1
	x.appendEncoded(b, x.encode(o, given...), log.FromClient)
}

// forgotten says that the log knows less of a producer than was appended, the
// batches that told it being dropped or compacted away: as in Kafka it has to
// begin a new epoch then.
func (x *machine) forgotten(p producer) bool {
	return slices.ContainsFunc(x.l.Producers(), func(have log.ProducerState) bool {
		return have.ID == p.pid && (have.Epoch != p.epoch || have.LastSequence != p.sequence)
	})
}

// duplicate sends a batch again.
func (x *machine) duplicate(b *batch) {
	var given []record.Record
	for range b.next - b.first {
		given = append(given, record.Record{Key: []byte("k"), Value: []byte("again"), Time: x.now})
	}
	raw := x.encode(record.BatchOptions{LeaderEpoch: -1, Transactional: b.txn, Producer: &record.Producer{ID: b.pid, Epoch: b.pepoch, Sequence: b.sequence}}, given...)
	at, err := x.l.AppendBatch(raw, log.FromClient)
	if x.image != nil {
		return
	}
	x.must(err, "a duplicate of "+b.String())
	if !at.Duplicate || at.First != b.first || at.Last != b.next-1 {
		x.failf("a duplicate of %v was answered %+v", b, at)
	}
}

// opened lists the producers with an open transaction.
func (x *machine) opened() (ids []int64) {
	for _, t := range x.m.txns() {
		if t.last == none && !slices.Contains(ids, t.pid) {
			ids = append(ids, t.pid)
		}
	}
	return ids
}

func (x *machine) canEnd() bool { return x.set.txns && len(x.opened()) > 0 }

// endTransaction appends the marker of an open transaction.
func (x *machine) endTransaction() {
	ids := x.opened()
	p := x.m.producer(ids[x.r.IntN(len(ids))])
	b := &batch{first: x.m.end, next: x.m.end + 1, pid: p.pid, pepoch: p.epoch, sequence: none, txn: true, control: true,
		marker: &marker{commit: x.r.IntN(2) == 0, coordinator: max(p.coordinator, 0) + x.r.Int32N(2)}}
	if x.set.raised {
		b.pepoch++
	}
	if x.set.role.follows() {
		kind := record.ControlAbort
		if b.marker.commit {
			kind = record.ControlCommit
		}
		x.replicate(b, record.BatchOptions{Control: true, Transactional: true, Producer: &record.Producer{ID: b.pid, Epoch: b.pepoch, Sequence: none}},
			[]record.Record{{Key: record.ControlKey(kind), Value: record.EndTxnValue(b.marker.coordinator), Time: x.now}})
		return
	}
	x.fly.batch = b
	at, err := x.l.EndTransaction(log.EndTxn{ProducerID: b.pid, Epoch: b.pepoch, EpochRaised: x.set.raised,
		CoordinatorEpoch: b.marker.coordinator, Commit: b.marker.commit})
	if x.image == nil {
		x.appended(b, at.First, err)
	}
}

// leaderEpochBegins is SetLeaderEpoch.
func (x *machine) leaderEpochBegins() {
	e := entry{x.l.LeaderEpoch() + 1 + x.r.Int32N(2), x.m.end}
	x.m.begun = append(x.m.begun, e)
	x.note("  epoch %d", e.epoch)
	err := x.l.SetLeaderEpoch(e.epoch)
	if x.image == nil {
		x.must(err, "SetLeaderEpoch")
	}
}
