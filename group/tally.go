package group

// Tally is how many groups of a coordinator are in each state, and how many
// offsets they have committed.
type Tally struct {
	States  [Dead]int // by State; there are none that are Dead
	Offsets int
}

// Tally counts, in time in the number of groups.
func (c *Coordinator) Tally() Tally {
	var t Tally
	for _, g := range c.groups {
		t.States[g.state]++
		t.Offsets += len(g.offsets.committed)
	}
	return t
}
