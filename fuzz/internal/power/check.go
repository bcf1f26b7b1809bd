package power

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// watermarks compares what takes no reading. What the log calls durable it is
// held to from now on.
func (x *machine) watermarks() {
	m, l := x.m, x.l
	first, durable, hw, end := l.First(), l.Durable(), l.HighWatermark(), l.End()
	if first != m.first || end != m.end {
		x.failf("the log is [%d, %d), want [%d, %d)", first, end, m.first, m.end)
	}
	if durable > end || durable < first {
		x.failf("durable is %d in a log [%d, %d)", durable, first, end)
	}
	if hw < first || hw > end {
		x.failf("the high watermark is %d in a log [%d, %d)", hw, first, end)
	}
	m.durable = max(m.durable, durable)
	x.stable(hw)
}

// stable compares the last stable offset.
func (x *machine) stable(hw int64) {
	m, got := x.m, x.l.LastStable()
	want := m.unstable(hw)
	// Of a transaction that began below the log start a log may know less.
	low, high := min(max(want, m.first), hw), hw
	for _, t := range m.txns() {
		if m.undecided(t, hw) && m.hasAt(t.first) {
			high = min(high, t.first)
			break
		}
	}
	if got < low || got > high {
		x.failf("the last stable offset is %d, want %d to %d (high watermark %d)", got, low, high, hw)
	}
}

// check reads all there is and compares.
func (x *machine) check() {
	x.watermarks()
	m := x.m
	x.same(log.UpToEnd, m.records())
	if x.set.txns {
		x.same(log.ReadCommitted, x.committed())
	}
	x.segments()
	x.producers()
	x.epochs()
	x.offsetAt()
}

// committed is what a reader of committed records gets.
func (x *machine) committed() []*rec {
	m, stable := x.m, x.l.LastStable()
	txns := m.txns()
	var list []*rec
	for _, b := range m.live() {
		if b.next > stable || isAborted(txns, b) {
			continue
		}
		for _, r := range b.recs {
			if r.offset >= m.first && !r.gone {
				list = append(list, r)
			}
		}
	}
	return list
}

// same reads at a level and compares with what must be there.
func (x *machine) same(level log.Isolation, want []*rec) {
	n := 0
	for got, err := range x.l.Isolated(level).From(x.m.first) {
		if err != nil {
			x.failf("reading (level %d) behind record %d of %d: %v", level, n, len(want), err)
		}
		if n == len(want) {
			x.failf("record %s at level %d was not appended, or was dropped", show(got), level)
		}
		x.sameRecord(got, want[n])
		n++
	}
	if n < len(want) {
		x.failf("%d records are there (level %d), want %d: the first that is missing is at offset %d", n, level, len(want), want[n].offset)
	}
}

func (x *machine) sameRecord(got record.Record, want *rec) {
	ms := int64(none)
	if !got.Time.IsZero() {
		ms = got.Time.UnixMilli()
	}
	if got.Offset != want.offset || ms != want.ms || len(got.Headers) != want.headers ||
		!sameBytes(got.Key, want.key) || !sameBytes(got.Value, want.value) {
		x.failf("there is %s, want offset %d key %q value %.40q time %d headers %d", show(got), want.offset, want.key, want.value, want.ms, want.headers)
	}
}

func sameBytes(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

func show(r record.Record) string {
	return fmt.Sprintf("offset %d key %q value %.40q time %d headers %d", r.Offset, r.Key, r.Value, r.Time.UnixMilli(), len(r.Headers))
}

// segments looks at the invariants of the list of segments.
func (x *machine) segments() {
	next := int64(none)
	infos := x.l.Segments()
	for _, s := range infos {
		if s.Base < next || s.Next < s.Base {
			x.failf("segment [%d, %d) behind one that ends at %d", s.Base, s.Next, next)
		}
		next = s.Next
	}
	if s := x.l.Stats(); s.Segments != len(infos) || next > s.End || len(x.held) == 0 && s.Pins != 0 {
		x.failf("Stats are %+v of segments %+v", s, infos)
	}
}

// offsetAt looks a time up.
func (x *machine) offsetAt() {
	list := x.m.records()
	if len(list) == 0 {
		return
	}
	ms := list[x.r.IntN(len(list))].ms + x.r.Int64N(3) - 1
	if ms < 0 {
		return
	}
	got, err := x.l.OffsetAt(time.UnixMilli(ms))
	x.must(err, "OffsetAt")
	want := x.m.end
	if i := slices.IndexFunc(list, func(r *rec) bool { return r.ms >= ms }); i >= 0 {
		want = list[i].offset
	}
	if got != want {
		x.failf("OffsetAt(%d) is %d, a linear scan says %d", ms, got, want)
	}
}
