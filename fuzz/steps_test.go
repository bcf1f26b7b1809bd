package fuzz

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/model"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// records makes a few records, and what they should be when they are read from
// first on.
func (x *machine) records(first int64) (given, want []record.Record) {
	n := []int{1, 1, 2, 3, 7}[x.c.pick("records", 5)]
	size := []int{0, 3, 20, 90}[x.c.pick("size", 4)]
	for i := range n {
		x.sent++
		r := record.Record{Value: fmt.Appendf(nil, "%d%s", x.sent, strings.Repeat("x", size/n))}
		switch x.c.pick("key", 4) {
		case 1:
			r.Key = []byte{}
		case 2:
			r.Key, r.Value = fmt.Appendf(nil, "k%d", x.sent%5), nil
		case 3:
			r.Headers = []record.Header{{Key: "h", Value: []byte("v")}, {Key: "", Value: nil}}
		}
		if x.c.pick("own time", 2) == 1 {
			r.Time = x.now.Add(time.Duration(x.c.pick("time", 100)-50) * time.Second)
		}
		given = append(given, r)

		r.Offset, r.TimestampType = first+int64(i), x.opts.TimestampType
		if r.Time.IsZero() || r.TimestampType == record.LogAppendTime {
			r.Time = x.now
		}
		r.Time = r.Time.UTC()
		want = append(want, r)
	}
	return given, want
}

func (x *machine) append() {
	x.note("append, segments %.150s", x.sizes())
	given, want := x.records(x.m.End)
	first, err := x.l.Append(given...)
	if errors.Is(err, record.ErrTooLarge) {
		return // a batch above SegmentBytes: nothing must have changed
	}
	x.must(err, "Append")
	x.appended(first, want)
}

func (x *machine) appended(first int64, want []record.Record) {
	if first != x.m.End {
		x.failf("appended at %d, want %d", first, x.m.End)
	}
	x.m.Append(first, int64(len(want)), want)
}

func (x *machine) appendSync() {
	given, want := x.records(x.m.End)
	x.note("append %d and sync", len(given))
	first, err := x.l.AppendSync(ctx, given...)
	if errors.Is(err, record.ErrTooLarge) {
		return
	}
	x.must(err, "AppendSync")
	x.appended(first, want)
	x.synced()
}

// fromLeader appends an encoded batch that keeps its offsets, which may leave a
// gap, or is a marker, which is no record.
func (x *machine) fromLeader() {
	first := x.m.End + int64(x.c.pick("gap", 3))
	given, want := x.records(first)
	control := x.c.pick("control", 4) == 0
	x.note("append %d from the leader at %d (control %t)", len(given), first, control)
	o := record.BatchOptions{BaseOffset: first, TimestampType: x.opts.TimestampType, AppendTime: x.now, Control: control}
	for i := range given {
		if given[i].Time.IsZero() {
			given[i].Time = x.now
		}
	}
	raw := encode(x.t, o, given...)
	at, err := x.l.AppendBatch(raw, log.FromLeader)
	if errors.Is(err, record.ErrTooLarge) {
		return
	}
	x.must(err, "AppendBatch")
	require.Equal(x.t, first, at.First)
	if control {
		want = nil
	}
	x.m.Append(first, int64(len(given)), want)
}

func encode(t require.TestingT, o record.BatchOptions, records ...record.Record) []byte {
	var b record.Builder
	b.Reset(o)
	for i := range records {
		require.NoError(t, b.Add(&records[i]))
	}
	raw, err := b.Build()
	require.NoError(t, err)
	return raw
}

// roll appends until there is another segment.
func (x *machine) roll() {
	x.note("roll")
	value := []byte(strings.Repeat("r", int(x.opts.SegmentBytes/3)))
	for before := x.l.Stats().Segments; x.l.Stats().Segments == before; {
		first, err := x.l.Append(record.Record{Value: value, Time: x.now})
		if errors.Is(err, record.ErrTooLarge) {
			return
		}
		x.must(err, "Append")
		x.appended(first, []record.Record{{Offset: first, Value: value, Time: x.now.UTC(), TimestampType: x.opts.TimestampType}})
		if x.opts.Compression != record.None {
			return
		}
	}
}

func (x *machine) sync() error {
	x.note("sync")
	err := x.l.Sync(ctx)
	if err == nil {
		x.synced()
	}
	return err
}

// offset is one around the log.
func (x *machine) offset(what string) int64 {
	span := int(x.m.End-x.m.First) + 5
	return x.m.First - 2 + int64(x.c.pick(what, span))
}

func (x *machine) dropBefore() {
	offset := x.offset("drop before")
	x.note("drop before %d of [%d, %d)", offset, x.m.First, x.m.End)
	err := x.l.DropBefore(offset)
	if offset > x.m.End {
		require.ErrorIs(x.t, err, log.ErrBeyond)
		return
	}
	x.must(err, "DropBefore")
	x.m.DropBefore(offset)
}

func (x *machine) dropFrom() {
	// The newest half, or there would never be much of a log.
	offset := max(x.offset("drop from"), (x.m.First+x.m.End)/2)
	if x.c.pick("below first", 10) == 1 {
		offset = x.m.First - 1
	}
	x.note("drop from %d of [%d, %d)", offset, x.m.First, x.m.End)
	err := x.l.DropFrom(offset)
	if offset < x.m.First {
		require.ErrorIs(x.t, err, log.ErrTrimmed)
		return
	}
	x.must(err, "DropFrom")
	x.m.DropFrom(offset)
}

func (x *machine) dropAll() {
	start := max(x.offset("start"), 0)
	x.note("drop all of [%d, %d) and start at %d", x.m.First, x.m.End, start)
	x.must(x.l.DropAll(start), "DropAll")
	x.m.DropAll(start)
}

func (x *machine) retain() {
	x.floor = x.offset("floor")
	bases := x.bases()
	x.note("retain from %d on, segments %v", x.floor, bases)
	dropped, err := x.l.Retain(ctx)
	x.must(err, "Retain")
	x.m.Retain(bases, x.floor)
	for i, s := range dropped {
		if s.Base != bases[i] {
			x.failf("segment %d was dropped, want %d", s.Base, bases[i])
		}
	}
	// What a crash kept from being unlinked goes as well.
	gone := len(dropped)
	for gone+1 < len(bases) && bases[gone+1] <= x.m.First {
		gone++
	}
	if left := x.bases(); !slices.Equal(left, bases[gone:]) {
		x.failf("segments %v are left, want %v", left, bases[gone:])
	}
}

func (x *machine) readOne() {
	offset := x.offset("read")
	x.note("read %d", offset)
	got, err := x.l.Read(offset)
	switch want := x.m.Records(offset); {
	case offset < x.m.First:
		require.ErrorIs(x.t, err, log.ErrTrimmed)
	case offset >= x.m.End:
		require.ErrorIs(x.t, err, log.ErrBeyond)
	case len(want) == 0 || want[0].Offset != offset:
		require.ErrorIs(x.t, err, log.ErrNoRecord)
	default:
		x.must(err, "Read")
		x.same([]record.Record{got}, want[:1])
	}
}

// tail reads along to the end, where its ctx ends it.
func (x *machine) tail() {
	offset := min(max(x.offset("tail"), x.m.First), x.m.End)
	x.note("tail %d", offset)
	want := x.m.Records(offset)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if len(want) == 0 {
		cancel()
	}
	var got []record.Record
	var last error
	for r, err := range x.l.Tail(ctx, offset) {
		if last = err; err != nil {
			continue
		}
		if got = append(got, r); len(got) == len(want) {
			cancel()
		}
	}
	require.ErrorIs(x.t, last, context.Canceled)
	x.same(got, want)
}

func (x *machine) borrow() {
	offset := min(max(x.offset("borrow"), x.m.First), x.m.End)
	limit := int64(x.c.pick("bytes", 1000))
	x.note("borrow %d bytes at %d", limit, offset)
	v, err := x.l.Borrow(offset, limit)
	if err == io.EOF {
		i := slices.IndexFunc(x.m.Batches, func(b model.Batch) bool { return b.Next > offset })
		if i >= 0 {
			x.failf("Borrow has no batch, want [%d, %d)", x.m.Batches[i].First, x.m.Batches[i].Next)
		}
		return
	}
	x.must(err, "Borrow")
	defer v.Release()
	if n := int64(len(v.Bytes())); n > limit && v.Next() > offset+7 {
		b, err := record.Parse(v.Bytes())
		if err != nil || int64(b.Size) != n {
			x.failf("%d bytes borrowed, limit %d", n, limit)
		}
	}
	i := 0
	for ; x.m.Batches[i].Next <= offset; i++ {
	}
	d := new(record.Decoder)
	for b := range v.Batches() {
		want := x.m.Batches[i]
		if b.BaseOffset != want.First || b.NextOffset() != want.Next {
			x.failf("batch [%d, %d) borrowed, want [%d, %d)", b.BaseOffset, b.NextOffset(), want.First, want.Next)
		}
		if !b.Control() {
			var got []record.Record
			for r, err := range d.Records(b) {
				x.must(err, "decoding")
				got = append(got, r)
				x.same(got[len(got)-1:], want.Records[len(got)-1:len(got)]) // headers are reused
			}
		}
		i++
	}
	if v.Next() != x.m.Batches[i-1].Next {
		x.failf("Next is %d, want %d", v.Next(), x.m.Batches[i-1].Next)
	}
}

func (x *machine) offsetAt() {
	t := x.now.Add(time.Duration(x.c.pick("at", 1200)-1100) * time.Second)
	if x.c.pick("zero time", 10) == 1 {
		t = time.Time{}
	}
	if all := x.m.Records(x.m.First); len(all) > 0 && x.c.pick("exact", 2) == 1 {
		t = all[x.c.pick("of", len(all))].Time
	}
	x.note("offset at %d", t.UnixMilli())
	got, err := x.l.OffsetAt(t)
	x.must(err, "OffsetAt")
	if want := x.m.OffsetAt(t); got != want {
		x.failf("OffsetAt(%d) is %d, a linear scan says %d", t.UnixMilli(), got, want)
	}
}
