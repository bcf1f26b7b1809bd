package compact

import "fmt"

// Result is what a cleaning came to.
type Result struct {
	Plan       Plan  // what there was to do, and why it was not done if it was not
	FirstDirty int64 // where the next cleaning has to begin
	Rounds     int   // times that the map was filled
	MappedTo   int64 // keys below this offset were compared with all that follow them
	Dropped    int64 // records
	Replaced   int   // segments that were written anew
	Read       int64 // bytes of batches, by all passes
	Spilled    int64 // bytes of keys that were written to a file, the map having no room for them
	NoSpill    bool  // they could not be: it went on in rounds
	Segments   Change
	Bytes      Change // of the .log files, below Plan.End
	// Collisions is how many records were kept only because another key had the
	// same hash. FirstDirty is not above them.
	Collisions int64
}

// Change is a number before and after.
type Change struct{ Before, After int64 }

// Add takes in the next round.
func (r *Result) Add(next Result) {
	first := next.FirstDirty
	if r.Rounds > 0 && r.FirstDirty < r.MappedTo { // something was not done there
		first = min(first, r.FirstDirty)
	}
	r.FirstDirty, r.MappedTo = first, next.MappedTo
	r.Rounds, r.Dropped, r.Replaced = r.Rounds+next.Rounds, r.Dropped+next.Dropped, r.Replaced+next.Replaced
	r.Read, r.Spilled, r.Collisions = r.Read+next.Read, r.Spilled+next.Spilled, r.Collisions+next.Collisions
	r.NoSpill = r.NoSpill || next.NoSpill
}

func (r Result) String() string {
	if r.Plan.Skip != "" {
		return "not compacted: " + string(r.Plan.Skip)
	}
	return fmt.Sprintf("compacted to offset %d: %d records dropped, segments %d to %d, bytes %d to %d, rounds %d",
		r.MappedTo, r.Dropped, r.Segments.Before, r.Segments.After, r.Bytes.Before, r.Bytes.After, r.Rounds)
}

// tally is a round's counting.
type tally struct {
	read       int64
	dropped    int64
	replaced   int
	collisions int64
	spilled    int64
	noSpill    bool
	undone     int64 // no record below this offset should have gone and did not
	complete   bool
}

// result is the round's. Until all of it is copied nothing is cleaner than it
// was, as far as the next round is concerned.
func (c *cleaner) result() Result {
	t := c.tally
	for _, w := range c.workers {
		t.dropped, t.collisions = t.dropped+w.tally.dropped, t.collisions+w.tally.collisions
		t.undone = min(t.undone, w.tally.undone)
	}
	r := Result{Rounds: 1, FirstDirty: c.FirstDirty, MappedTo: c.FirstDirty, Dropped: t.dropped,
		Replaced: t.replaced, Read: t.read, Spilled: t.spilled, NoSpill: t.noSpill, Collisions: t.collisions}
	if t.complete {
		r.FirstDirty, r.MappedTo = min(c.mapped, t.undone), c.mapped
	}
	return r
}
