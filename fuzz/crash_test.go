package fuzz

import (
	"errors"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// kill ends the process: all that was appended is there.
func (x *machine) kill() {
	x.note("kill")
	x.restart(x.mem.Kill(), func(int64) (durable int64) {
		durable, x.m.Durable = x.m.Durable, x.m.End
		return durable
	})
}

// powerCut ends the machine.
func (x *machine) powerCut() {
	seed := uint64(x.c.pick("seed", 1<<16))
	x.note("power cut %d, durable %d of [%d, %d)", seed, x.m.Durable, x.m.First, x.m.End)
	x.restart(x.mem.Crash(seed), func(int64) int64 { return x.m.Durable })
}

func (x *machine) writeback() {
	seed := uint64(x.c.pick("seed", 1<<16))
	x.note("writeback %d", seed)
	x.mem.Writeback(seed)
}

// restart goes on with the files of a machine that died. adjust makes the model
// allow for what may be, given the log's new start; what it returns is durable
// from then on, which a kill adds nothing to.
func (x *machine) restart(mem *vfs.Mem, adjust func(first int64) (durable int64)) {
	old := x.l
	x.mem = mem
	x.open()
	_ = old.Close() // a dead process; frees its memory
	durable := adjust(x.l.First())
	x.must(x.m.Crash(x.l.End()), "restart")
	x.m.Durable = min(durable, x.m.End)
	x.everything()

	// Whatever was repaired, it was for good.
	old, x.mem = x.l, x.mem.Kill()
	repaired := x.l.Recovery()
	x.open()
	_ = old.Close()
	if r := x.l.Recovery(); len(r.Actions) > 0 {
		x.failf("a second open repairs: %v; the first did %v", r.Actions, repaired.Actions)
	}
	x.everything()
	x.append()
}

// crashInside does something and crashes at one of the calls it makes.
func (x *machine) crashInside() {
	before := x.m.Clone()
	left, power, seed := 1+x.c.pick("call", 25), x.c.pick("power", 2) == 1, uint64(x.c.pick("seed", 1<<16))
	var dead *vfs.Mem
	x.crash = func() {
		if left--; left == 0 {
			if power {
				dead = x.mem.Crash(seed)
			} else {
				dead = x.mem.Kill()
			}
		}
	}
	given, want := x.records(x.m.End)
	offset, what := x.offset("edge"), x.c.pick("what", 7)
	x.note("crash at call %d (power %t, seed %d) of %d with %d records and offset %d", left, power, seed, what, len(given), offset)
	var err error
	closed := false
	switch what {
	case 0:
		_, err = x.l.Append(given...)
	case 1:
		_, err = x.l.AppendSync(ctx, given...)
	case 2:
		err = x.l.DropBefore(offset)
	case 3:
		err = x.l.DropFrom(offset)
	case 4:
		err = x.l.Checkpoint(ctx)
	case 5:
		err, closed = x.l.Close(), true
	case 6:
		offset = max(offset, 0)
		err = x.l.DropAll(offset)
	}
	x.crash = nil
	// The model as it is when the call came to its end.
	switch tooLarge := errors.Is(err, record.ErrTooLarge); {
	case what <= 1 && !tooLarge:
		x.m.Append(x.m.End, int64(len(want)), want)
	case what == 2 && offset <= x.m.End:
		x.m.DropBefore(offset)
	case what == 3 && offset >= x.m.First:
		x.m.DropFrom(offset)
	case what == 6:
		x.m.DropAll(offset)
	}
	if dead == nil { // it was over before
		switch {
		case what == 2 && offset > x.m.End:
			require.ErrorIs(x.t, err, log.ErrBeyond)
		case what == 3 && offset < x.m.First:
			require.ErrorIs(x.t, err, log.ErrTrimmed)
		case !errors.Is(err, record.ErrTooLarge):
			x.must(err, "uninterrupted")
		}
		if err == nil && (what == 1 || what == 4 || what == 5) {
			x.m.Sync()
		}
		if closed {
			x.open()
			x.synced()
		}
		return
	}
	after := x.m
	x.restart(dead, func(first int64) (durable int64) {
		if what == 2 && first != before.First && first != after.First {
			x.failf("the log starts at %d after a crash in DropBefore, want %d or %d", first, before.First, after.First)
		}
		durable = after.Durable
		if what == 6 {
			if first != offset || x.l.End() != offset { // it had not begun to count
				x.m, durable = before, before.Durable
			}
			if !power {
				x.m.Durable = x.m.End
			}
			return durable
		}
		switch {
		case what == 3: // any end between the two
			x.m = before
			if x.m.Durable = after.Durable; !power {
				x.m.Durable = after.End
			}
			return durable
		case what == 2 && first == before.First:
			x.m, durable = before, before.Durable
		}
		if !power {
			x.m.Durable = before.End
		}
		return durable
	})
}
