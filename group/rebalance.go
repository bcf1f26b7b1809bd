package group

import "time"

// rebalance begins one, or goes on with the one that there is.
func (c *Coordinator) rebalance(now time.Time, g *group) {
	if g.state != PreparingRebalance {
		c.prepare(now, g)
		return
	}
	c.maybeComplete(now, g)
}

// prepare begins a rebalance. That of a new group waits for its delay, so that
// members which start together are in one generation.
func (c *Coordinator) prepare(now time.Time, g *group) {
	if g.state == CompletingRebalance {
		g.resetAssignments(RebalanceInProgress)
	}
	g.initial, g.newMembers = g.state == Empty, false
	g.rebalance++
	g.enter(PreparingRebalance, now)
	if g.initial {
		delay := c.config.InitialRebalanceDelay
		c.wait(now, g, delay, max(g.timeout()-delay, 0))
		return
	}
	if !c.maybeComplete(now, g) {
		c.completeBy(now.Add(g.timeout()), g)
	}
}

// wait completes a new group's rebalance after a delay, or waits once more if
// members joined meanwhile and there is time left of the rebalance timeout.
func (c *Coordinator) wait(now time.Time, g *group, delay, left time.Duration) {
	if delay == 0 {
		c.complete(now, g)
		return
	}
	number := g.rebalance
	c.timers.set(now.Add(delay), func(now time.Time) {
		switch {
		case !c.rebalancing(g, number):
		case g.newMembers && left > 0:
			g.newMembers = false
			next := min(c.config.InitialRebalanceDelay, left)
			c.wait(now, g, next, max(left-delay, 0))
		default:
			c.complete(now, g)
		}
	})
}

// rebalancing says that the rebalance of a number is still the current one.
func (c *Coordinator) rebalancing(g *group, number uint64) bool {
	return c.groups[g.id] == g && g.state == PreparingRebalance && g.rebalance == number
}

func (c *Coordinator) completeBy(at time.Time, g *group) {
	number := g.rebalance
	c.timers.set(at, func(now time.Time) {
		if c.rebalancing(g, number) {
			c.complete(now, g)
		}
	})
}

// maybeComplete completes a rebalance if all members have joined and nobody has
// an id that is not used yet.
func (c *Coordinator) maybeComplete(now time.Time, g *group) bool {
	if g.state != PreparingRebalance || g.initial || g.waiting() < len(g.members) || len(g.pending) > 0 {
		return false
	}
	c.complete(now, g)
	return true
}

// complete begins the next generation with those who have joined. Dynamic
// members that have not are thrown out, static ones stay.
func (c *Coordinator) complete(now time.Time, g *group) {
	for _, m := range append([]*member(nil), g.members...) {
		if m.join == nil && m.instance == nil {
			g.remove(m)
		}
	}
	if !g.elect() && len(g.members) > 0 {
		// Nobody is there: what is left are static members, until their sessions end.
		c.completeBy(now.Add(g.timeout()), g)
		return
	}
	g.generation++
	if len(g.members) == 0 {
		g.protocol = ""
		g.learnTopics()
		g.enter(Empty, now)
		c.writeGroup(now, g, nil, func(Code) {})
		return
	}
	g.protocol = g.vote()
	g.learnTopics()
	g.enter(CompletingRebalance, now)
	members := append([]*member(nil), g.members...)
	for _, m := range members {
		m.isNew, m.mustSync = false, true
		c.touch(now, g, m)
	}
	c.awaitSyncs(now, g)
	for _, m := range members {
		m.answerJoin(g.joined(m))
	}
}

// elect keeps the leader if it has joined, else any that has is it.
func (g *group) elect() bool {
	if l := g.byID[g.leader]; l != nil && l.join != nil {
		return true
	}
	for _, m := range g.members {
		if m.join != nil {
			g.leader = m.id
			return true
		}
	}
	return false
}

// awaitSyncs throws out who has not asked for its assignment when the rebalance
// timeout is over.
func (c *Coordinator) awaitSyncs(now time.Time, g *group) {
	generation := g.generation
	c.timers.set(now.Add(g.timeout()), func(now time.Time) {
		if c.groups[g.id] != g || g.generation != generation || g.state != CompletingRebalance && g.state != Stable {
			return
		}
		removed := false
		for _, m := range append([]*member(nil), g.members...) {
			if m.mustSync {
				g.remove(m)
				removed = true
			}
		}
		if removed {
			c.prepare(now, g)
		}
	})
}

// resetAssignments takes back those of a generation that did not come to be.
func (g *group) resetAssignments(code Code) {
	g.syncing = false
	for _, m := range g.members {
		m.assignment = nil
		m.answerSync(SyncResponse{Code: code})
	}
}

// kick takes a member out, whatever it waits for, and lets the others go on.
func (c *Coordinator) kick(now time.Time, g *group, m *member, code Code) {
	m.answerJoin(refused(code, ""))
	g.remove(m)
	c.goOn(now, g)
}

// goOn is after members have left.
func (c *Coordinator) goOn(now time.Time, g *group) {
	switch g.state {
	case Stable, CompletingRebalance:
		c.prepare(now, g)
	case PreparingRebalance:
		c.maybeComplete(now, g)
	}
}
