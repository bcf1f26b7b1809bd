package group

import (
	"time"

	"github.com/seglog/seglog/internal/javahash"
)

// Coordinator is the groups of one partition of __consumer_offsets. Its methods
// are not for concurrent use: who drives it has a lock.
type Coordinator struct {
	config  Config
	groups  map[string]*group
	timers  timers
	now     time.Time // of the last call: what is done when an append is durable is done then
	loading bool
	closed  bool
}

// New makes a coordinator that is loading: it answers COORDINATOR_LOAD_IN_PROGRESS
// until Loaded is called. Config must have Append and NewMemberID.
func New(config Config) *Coordinator {
	return &Coordinator{config: config.withDefaults(), groups: make(map[string]*group), loading: true}
}

// Close ends the coordinator, whose partition is another broker's now or will
// be: what waits is answered NOT_COORDINATOR, and so is everything after it.
func (c *Coordinator) Close() {
	c.closed, c.timers.heap = true, nil
	for _, g := range c.groups {
		for _, m := range g.members {
			m.answerJoin(refused(NotCoordinator, m.id))
			m.answerSync(SyncResponse{Code: NotCoordinator})
		}
	}
	c.groups = make(map[string]*group)
}

// Partition is the partition of __consumer_offsets whose leader coordinates a
// group, of so many that the topic has: Java's hash code of its name (in UTF-16),
// made positive, modulo their number.
func Partition(group string, partitions int32) int32 {
	h := javahash.String(group)
	if h == -1<<31 {
		return 0
	}
	return max(h, -h) % partitions
}

// serving says whether the coordinator answers for its partition.
func (c *Coordinator) serving() Code {
	switch {
	case c.closed:
		return NotCoordinator
	case c.loading:
		return CoordinatorLoadInProgress
	}
	return None
}

// find is the group of a member's call, of which there is one unless the code
// says otherwise. A group that is being deleted is in between.
func (c *Coordinator) find(id string) (*group, Code) {
	if id == "" {
		return nil, InvalidGroupID
	}
	if code := c.serving(); code != None {
		return nil, code
	}
	g := c.groups[id]
	switch {
	case g == nil:
		return nil, UnknownMemberID
	case g.deleting:
		return nil, CoordinatorLoadInProgress
	}
	return g, None
}

// append writes records of the coordinator's own.
func (c *Coordinator) append(now time.Time, records []Record, done func(first int64, code Code)) {
	c.config.Append(Batch{Records: records, Time: now, ProducerID: NoProducer, ProducerEpoch: -1}, c.once(done))
}

// once ignores what comes after Close: groups are another coordinator's then.
// Who waits is told.
func (c *Coordinator) once(done func(first int64, code Code)) func(int64, Code) {
	return func(first int64, code Code) {
		if c.closed {
			first, code = -1, NotCoordinator
		}
		done(first, code)
	}
}
