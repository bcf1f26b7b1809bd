package work

import (
	"context"
	"math/rand/v2"

	"github.com/seglog/seglog/fuzz/said"
	"github.com/seglog/seglog/record"
)

// writer appends one batch after the other.
type writer struct {
	d      *Subject
	number int
	batch  int
	r      *rand.Rand
}

func (d *Subject) writer(number int) *writer {
	return &writer{d: d, number: number, batch: d.Boot * said.PerBoot, r: rand.New(rand.NewPCG(d.Rand.Uint64(), d.Rand.Uint64()))}
}

// together has n writers do the same until one of them fails.
func (d *Subject) together(n int, step func(w *writer) error) error {
	failed := make(chan error)
	for i := range n {
		w := d.writer(i)
		go func() {
			for {
				if err := step(w); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return <-failed
}

// append adds one batch of a few records of up to size bytes:
//
//	a <writer> <batch> <first> <count>   it is durable
//	p <writer> <batch> <first> <count>   it is appended, and may be lost
func (w *writer) append(durable bool, size int) error {
	count := 1 + w.r.IntN(4)
	records := make([]record.Record, count)
	for i := range records {
		id := said.ID{Writer: w.number, Batch: w.batch, Index: i, Count: count}
		records[i].Value = said.Value(id, w.r.IntN(size))
		if w.d.w.keyed {
			records[i].Key = said.Key(id)
		}
	}
	var first int64
	var err error
	verb := "p"
	if durable {
		verb = "a"
		first, err = w.d.l.AppendSync(ctx, records...)
	} else {
		first, err = w.d.l.Append(records...)
	}
	if err != nil {
		return err
	}
	w.d.say("%s %d %d %d %d", verb, w.number, w.batch, first, count)
	w.batch++
	return nil
}

// sync makes durable what there is:
//
//	s <offset>   what is below it is durable
func (d *Subject) sync(how func(context.Context) error) error {
	end := d.l.End()
	if err := how(ctx); err != nil {
		return err
	}
	d.say("s %d", end)
	return nil
}

// reopen closes and opens. Nobody else may be using the log.
func (d *Subject) reopen() error {
	end := d.l.End()
	if err := d.l.Close(); err != nil {
		return err
	}
	d.say("s %d", end)
	if err := d.open(); err != nil {
		return err
	}
	if !d.l.Recovery().Clean || d.l.End() != end {
		d.say("! closed at %d, opened with %+v", end, d.l.Recovery())
	}
	return nil
}

// dropBefore takes the front away:
//
//	tb <offset>   about to drop what is below it, or part of that
//	b <offset>    it is dropped
func (d *Subject) dropBefore(offset int64) error {
	d.say("tb %d", offset)
	if err := d.l.DropBefore(offset); err != nil {
		return err
	}
	d.say("b %d", d.l.First())
	return nil
}

// retain is dropBefore as far as the policy says.
func (d *Subject) retain() error {
	d.say("tb %d", d.l.End())
	if _, err := d.l.Retain(ctx); err != nil {
		return err
	}
	d.say("b %d", d.l.First())
	return nil
}

// dropFrom takes the end away:
//
//	tf <offset>   about to drop what is from there on
//	f <end>       it is dropped, the log ends there
func (d *Subject) dropFrom(offset int64) error {
	d.say("tf %d", offset)
	if err := d.l.DropFrom(offset); err != nil {
		return err
	}
	d.say("f %d", d.l.End())
	return nil
}

// compact says what came of it, which is for people to see:
//
//	n <text>
func (d *Subject) compact() error {
	r, err := d.l.Compact(ctx)
	if err != nil {
		return err
	}
	if r.Plan.Skip == "" {
		d.say("n %v", r)
	}
	return nil
}
