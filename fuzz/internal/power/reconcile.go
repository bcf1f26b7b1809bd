package power

import (
	"slices"

	"github.com/seglog/seglog/log"
)

// reconcile holds what a restarted log is against what was promised, and makes
// the model that. killed says that only processes ended: then nothing that was
// appended may be missing.
func (x *machine) reconcile(killed bool) {
	m, l, f := x.m, x.l, x.fly
	x.fly = fly{}
	first, end := l.First(), l.End()

	if f.all && first == f.first && end == f.first && (first != m.first || end < m.durable || killed && end < m.end) {
		m.restart(first)
		x.markRestarted()
		return
	}
	if first != m.first && (f.all || f.first == 0 || first != f.first) {
		x.failf("the log starts at %d after a crash, want %d%s", first, m.first, orThat(f.first))
	}
	high := m.end
	if f.batch != nil {
		high = f.batch.next
	}
	m.dropBefore(first)
	low := m.durable
	if killed {
		low = m.end
	}
	high = max(high, first)
	cutHere := f.cutting && end <= f.cut && end >= min(f.sureCut, low)
	if x.set.role == oldStyle {
		low = min(low, x.lowestMark())
		if hw := l.HighWatermark(); hw != end && l.LeaderEpoch() < 0 {
			x.failf("a follower without epochs ends at %d and not at its high watermark %d", end, hw)
		}
	}
	if (end < low || end > high) && !cutHere {
		x.failf("the log ends at %d after a crash, want %d (durable) to %d; DropFrom under way %t to %d", end, low, high, f.cutting, f.cut)
	}
	if killed && f.batch != nil && end != m.end && end != high && x.set.role != oldStyle {
		x.failf("the log ends at %d after a kill, want %d or %d", end, m.end, high)
	}
	if f.batch != nil && end == f.batch.next {
		x.took(f.batch)
	}
	if end > first && !m.boundary(end) && !cutHere {
		x.failf("the log ends at %d after a crash, where no batch does", end)
	}
	m.cut(end)
	x.markRestarted()
	m.durable = max(m.durable, l.Durable())
	if f.cleans > 0 {
		x.cleaned(f.cleans)
	}
}

func orThat(first int64) string {
	if first == 0 {
		return ""
	}
	return ", or the one that was being made"
}

// lowestMark is how far a follower without epochs may be cut when it is opened:
// to the lowest high watermark that a checkpoint may have.
func (x *machine) lowestMark() int64 {
	return x.m.sureBelow(slices.Min(x.m.hws))
}

// cutToMark takes in what a follower without epochs cuts when it is opened.
func (x *machine) cutToMark() {
	m, end := x.m, x.l.End()
	if x.set.role != oldStyle || end == m.end {
		return
	}
	for _, mark := range m.hws {
		if mark = max(mark, m.first); m.sureBelow(mark) <= end && end <= m.endBelow(mark) {
			m.cut(end)
			x.noted()
			return
		}
	}
	x.failf("a follower without epochs was opened to end at %d, it was [%d, %d) with a high watermark of %v", end, m.first, m.end, m.hws)
}

// markRestarted takes in the high watermark that a log was opened with.
func (x *machine) markRestarted() {
	m, l := x.m, x.l
	m.told, m.decided = false, 0
	hw := l.HighWatermark()
	if !x.set.role.follows() {
		if hw != l.End() {
			x.failf("the high watermark is %d after opening, want the end %d", hw, l.End())
		}
		m.hw, m.hws = hw, append(m.hws, hw)
		return
	}
	if !slices.ContainsFunc(m.hws, func(mark int64) bool { return hw == min(max(mark, l.First()), l.End()) }) {
		x.failf("the high watermark is %d after opening [%d, %d), want one of %v", hw, l.First(), l.End(), m.hws)
	}
	m.hw, m.hws = hw, append(m.hws, hw)
}

// again looks whether what the open before did was for good: another process
// opens a copy of the files and finds nothing to do. Now and then it is that one
// that goes on.
func (x *machine) again() {
	what := x.r.IntN(8)
	fork := x.mem.Fork()
	_, logs, err := x.openAll(fork, what == 0)
	x.must(err, "opening again")
	x.each(func() {
		l := logs[x.name]
		if l == nil {
			x.failf("opened again there is no log")
		}
		if r := l.Recovery(); len(r.Actions) > 0 {
			x.failf("a second open repairs: %v; the first did %v", r.Actions, x.l.Recovery().Actions)
		}
		if l.First() != x.l.First() || l.End() != x.l.End() {
			x.failf("opened again the log is [%d, %d), it was [%d, %d)", l.First(), l.End(), x.l.First(), x.l.End())
		}
		if what == 1 {
			v, err := log.Verify(ctx, x.dir, x.optionsOn(fork), nil)
			x.must(err, "Verify")
			if len(v.Faults) > 0 {
				x.failf("Verify finds %v", v.Faults)
			}
		}
	})
	if what == 2 || what == 3 {
		x.note("  killed and opened again")
		x.fs = x.wrap(fork.Kill())
		x.open()
		x.each(x.check)
	}
}
