package power

import (
	"errors"
	"slices"

	"github.com/seglog/seglog/log"
)

// op is an operation: how often it is picked, about how many events it has, and
// when it can be done.
type op struct {
	name   string
	weight int
	events int
	can    func(x *machine) bool // nil is always
	do     func(x *machine)
}

func leads(x *machine) bool   { return !x.set.role.follows() }
func follows(x *machine) bool { return x.set.role.follows() }
func alone(x *machine) bool   { return x.plan.Workload == OneLog }

// operations are all that can be done to a log.
func operations() []op {
	return []op{
		{"append", 22, 6, leads, func(x *machine) { x.append(false) }},
		{"append-sync", 14, 8, leads, func(x *machine) { x.append(true) }},
		{"produce", 14, 6, leads, (*machine).produce},
		{"end transaction", 6, 8, (*machine).canEnd, (*machine).endTransaction},
		{"append from leader", 4, 6, leads, (*machine).fromLeader},
		{"append from leader", 50, 6, follows, (*machine).fromLeader},
		{"roll", 5, 16, nil, (*machine).roll},
		{"sync", 7, 12, nil, (*machine).sync},
		{"checkpoint", 4, 14, nil, (*machine).checkpoint},
		{"drop before", 5, 24, nil, (*machine).dropBefore},
		{"drop from", 4, 24, nil, (*machine).dropFrom},
		{"follower truncation", 4, 24, follows, (*machine).truncate},
		{"retain", 5, 24, nil, (*machine).retain},
		{"compact", 7, 90, func(x *machine) bool { return x.set.compacts }, (*machine).compact},
		{"leader epoch", 3, 6, func(x *machine) bool { return leads(x) }, (*machine).leaderEpochBegins},
		{"high watermark", 8, 1, func(x *machine) bool { return x.set.role != leader }, (*machine).setHighWatermark},
		{"close and open", 4, 24, alone, (*machine).reopen},
		{"hold a view", 3, 1, nil, (*machine).hold},
		{"read", 3, 2, nil, (*machine).read},
		{"drop all", 6, 30, func(x *machine) bool { return x.set.restarts }, (*machine).dropAll},
	}
}

var allOperations = operations()

// pick chooses one of the operations. A log that has grown long is made shorter.
func (x *machine) pick(list []op, long bool) op {
	want := x.r.IntN(1 << 20)
	total := 0
	for _, o := range list {
		if o.possible(x, long) {
			total += o.weight
		}
	}
	want %= total
	for _, o := range list {
		if !o.possible(x, long) {
			continue
		}
		if want -= o.weight; want < 0 {
			return o
		}
	}
	panic("unreachable")
}

func (o op) possible(x *machine, long bool) bool {
	if long && o.grows() {
		return false
	}
	return o.can == nil || o.can(x)
}

// grows says whether an operation is none of a log that has grown long.
func (o op) grows() bool {
	switch o.name {
	case "drop before", "retain", "drop from", "drop all":
		return false
	}
	return true
}

func (x *machine) sync() {
	err := x.l.Sync(ctx)
	if x.image == nil {
		x.must(err, "Sync")
		x.synced()
	}
}

// synced is called after what makes everything durable.
func (x *machine) synced() {
	x.m.durable = x.m.end
	if d := x.l.Durable(); d != x.m.end {
		x.failf("durable is %d after a sync, want %d", d, x.m.end)
	}
}

func (x *machine) checkpoint() {
	err := x.l.Checkpoint(ctx)
	if x.image == nil {
		x.must(err, "Checkpoint")
		x.synced()
		x.noted()
	}
}

// noted is called after what writes a checkpoint: it has the high watermark.
func (x *machine) noted() { x.m.hws = []int64{x.l.HighWatermark()} }

// around is an offset in the log, or near it.
func (x *machine) around() int64 {
	return max(x.m.first-1+x.r.Int64N(x.m.end-x.m.first+3), 0)
}

func (x *machine) dropBefore() {
	m := x.m
	offset := min(x.around(), m.end)
	if x.r.IntN(3) == 0 { // a segment's base
		infos := x.l.Segments()
		offset = infos[x.r.IntN(len(infos))].Base
	}
	offset = min(offset, x.l.HighWatermark()) // what is not replicated cannot be dropped
	x.note("  drop before %d", offset)
	x.fly.first = max(offset, m.first)
	err := x.l.DropBefore(offset)
	if x.image != nil {
		return
	}
	x.must(err, "DropBefore")
	if offset > m.first {
		m.dropBefore(offset)
		x.liftMark()
		x.noted()
	}
}

// liftMark: what is below the log start is no business of a high watermark.
func (x *machine) liftMark() { x.m.hw = max(x.m.hw, x.m.first) }

func (x *machine) dropFrom() {
	m := x.m
	offset := max(x.around(), m.first)
	if x.r.IntN(2) == 0 { // the newest half, or there would never be much of a log
		offset = max(offset, (m.first+m.end)/2)
	}
	x.dropAt(offset)
}

// dropAt is DropFrom.
func (x *machine) dropAt(offset int64) {
	m := x.m
	x.note("  drop from %d", offset)
	x.fly.cutting, x.fly.cut, x.fly.sureCut = true, m.endBelow(offset), m.sureBelow(offset)
	err := x.l.DropFrom(offset)
	if x.image != nil {
		return
	}
	x.must(err, "DropFrom")
	end := x.l.End()
	if end > x.fly.cut || end < x.fly.sureCut {
		x.failf("the log ends at %d after DropFrom(%d), want %d", end, offset, x.fly.cut)
	}
	if offset < m.end {
		m.cut(end)
		x.noted()
	}
}

// dropAll is DropAll: to an offset of the log, to 0, or to one that it had not
// come to.
func (x *machine) dropAll() {
	m := x.m
	start := weighted(x.r, x.around(), 0, m.first, m.end, m.end+x.r.Int64N(5), m.end+x.r.Int64N(300))
	x.note("  drop all, start at %d", start)
	x.fly.all, x.fly.first = true, start
	err := x.l.DropAll(start)
	if x.image != nil {
		return
	}
	x.must(err, "DropAll")
	m.restart(start)
}

// truncate is what a follower does whose leader answers where an epoch ended.
func (x *machine) truncate() {
	m, l := x.m, x.l
	epoch := max(l.LeaderEpoch()-x.r.Int32N(2), 0)
	_, end, ok := l.EndOffsetForEpoch(epoch)
	if !ok {
		return
	}
	theirs := m.first + x.r.Int64N(m.end-m.first+1)
	x.dropAt(max(min(end, theirs), l.HighWatermark(), m.first))
}

func (x *machine) retain() {
	x.floor = x.around()
	infos := x.l.Segments()
	expired, err := x.l.Expired()
	x.must(err, "Expired")
	start := x.m.end // where all are, another one is begun
	if n := len(expired); n < len(infos) {
		start = infos[n].Base
	}
	if len(expired) > 0 {
		x.fly.first = start
	}
	x.note("  retain: %d segments expired, floor %d", len(expired), x.floor)
	dropped, err := x.l.Retain(ctx)
	if x.image != nil {
		return
	}
	x.must(err, "Retain")
	if len(dropped) != len(expired) {
		x.failf("%d segments were dropped, %d were expired", len(dropped), len(expired))
	}
	if len(expired) > 0 {
		x.m.dropBefore(start)
		x.liftMark()
		x.noted()
	}
}

func (x *machine) compact() {
	segments := x.l.Segments()
	below := segments[len(segments)-1].Base
	x.fly.cleans = below
	result, err := x.compactLog()
	if x.image != nil {
		return
	}
	x.must(err, "Compact")
	x.note("  %v", result)
	if result.Plan.Skip == "" {
		x.cleaned(below)
		x.noted()
		x.same(log.UpToEnd, x.m.records())
	}
}

func (x *machine) reopen() {
	x.close()
	if x.image != nil {
		return
	}
	x.open()
	x.each(func() {
		if r := x.l.Recovery(); !r.Clean {
			x.failf("a log that was closed opens with %v, %d batches scanned, note %q, checkpoint %+v", r.Actions, r.ScannedBatches, r.Note, r.Checkpoint)
		}
		x.check()
	})
	x.files()
}

func (x *machine) close() {
	x.each(x.release)
	err := x.closeAll()
	if x.image != nil {
		return
	}
	x.must(err, "Close")
	x.each(func() {
		x.m.durable = x.m.end
		x.noted()
	})
}

// open opens logs that nothing is wrong with.
func (x *machine) open() {
	x.each(x.release)
	fuse, back := x.fuse, x.back
	x.fuse, x.back = fuseOut, writebackOut
	x.must(x.start(), "Open")
	x.takeStock()
	x.each(func() {
		if r := x.l.Recovery(); len(r.Actions) > 0 {
			x.failf("opening repairs %v", r.Actions)
		}
	})
	x.fuse, x.back = fuse, back
	x.each(func() {
		x.cutToMark()
		x.markRestarted()
	})
}

var (
	fuseOut      fuse
	writebackOut writeback
)

func (x *machine) setHighWatermark() {
	m := x.m
	hw := m.hw + x.r.Int64N(max(m.end-m.hw, 0)+1)
	x.note("  high watermark %d", hw)
	if leads(x) && !m.told {
		m.told, m.decided = true, m.end
	}
	x.must(x.l.SetHighWatermark(hw), "SetHighWatermark")
	m.hw = min(max(hw, m.first), m.end)
	m.hws = append(m.hws, m.hw)
	if got := x.l.HighWatermark(); got != m.hw {
		x.failf("the high watermark is %d after setting it to %d in [%d, %d), want %d", got, hw, m.first, m.end, m.hw)
	}
}

// hold borrows memory of the log, which a cut must then not take away.
func (x *machine) hold() {
	if len(x.held) > 2 {
		x.release()
	}
	list := x.m.records()
	if len(list) == 0 {
		return
	}
	v, err := x.l.Borrow(list[x.r.IntN(len(list))].offset, 500)
	x.must(err, "Borrow")
	x.held = append(x.held, v)
}

func (x *machine) release() {
	for _, v := range x.held {
		n := 0
		for b := range v.Batches() {
			n += b.Size
		}
		if n != len(v.Bytes()) {
			x.failf("a view of %d bytes has %d in batches", len(v.Bytes()), n)
		}
		v.Release()
	}
	x.held = nil
}

func (x *machine) read() {
	list := x.m.records()
	if len(list) == 0 {
		return
	}
	want := list[x.r.IntN(len(list))]
	got, err := x.l.Read(want.offset)
	x.must(err, "Read")
	x.sameRecord(got, want)
	if _, err := x.l.Read(x.m.end); !errors.Is(err, log.ErrBeyond) {
		x.failf("Read(%d), the end: %v", x.m.end, err)
	}
	if i := slices.IndexFunc(list, func(r *rec) bool { return r.offset > want.offset }); i > 0 {
		for got, err := range x.l.From(want.offset + 1) {
			x.must(err, "From")
			x.sameRecord(got, list[i])
			break
		}
	}
}
