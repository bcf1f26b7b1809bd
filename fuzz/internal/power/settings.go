package power

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention"
	"github.com/seglog/seglog/retention/compact"
)

// role is who writes the log.
type role int

const (
	leader     role = iota
	replicated      // a leader whose high watermark is what it is told
	follower        // of a leader that has epochs
	oldStyle        // a follower without epochs, cut to its high watermark
)

func (r role) follows() bool { return r >= follower }

func (r role) String() string {
	return [...]string{"leader", "replicated leader", "follower", "follower without epochs"}[r]
}

// settings are what a plan keeps to.
type settings struct {
	role     role
	unit     int64
	log      log.Options
	compact  compact.Options
	compacts bool // records have keys, and it is compacted
	txns     bool // producers write transactions
	raised   bool // their markers raise the epoch (transaction.version 2)
	large    bool // some batches are written, not stored
	restarts bool // all is dropped now and then
}

func weighted[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

func anyUnit(r *rand.Rand) int64 {
	return weighted[int64](r, vfs.SectorSize, vfs.SectorSize, vfs.SectorSize, vfs.PageSize)
}

// settle chooses the settings of a log. What is chosen last came last: so the
// seeds of before mean what they meant.
func (x *machine) settle(p *part, r *rand.Rand) {
	s := &p.set
	s.role = weighted(r, leader, leader, leader, leader, leader, leader, replicated, follower, follower, oldStyle)
	s.unit = anyUnit(r)
	s.log.SegmentBytes = weighted[int64](r, 512, 900, 1500, 1500, 3000, 3000, 6000, 12000)
	s.log.IndexInterval = weighted[int64](r, 1, 100, 400, 1024)
	s.log.MappedSegments = weighted(r, 1, 2, 128)
	s.log.SegmentAge = weighted(r, 0, 0, 0, time.Minute)
	if r.IntN(8) == 0 {
		s.log.Compression = weighted(r, record.Snappy, record.LZ4, record.Zstd, record.Gzip)
	}
	if r.IntN(6) == 0 {
		s.log.TimestampType = record.LogAppendTime
	}
	if s.large = r.IntN(50) == 0; s.large {
		s.log.SegmentBytes = 150 << 10
	}
	s.compacts, s.txns, s.raised = r.IntN(3) == 0, r.IntN(2) == 0, r.IntN(2) == 0
	s.compact = compact.Options{DeleteRetention: weighted(r, 30*time.Second, 5*time.Minute), MapBytes: weighted[int64](r, 64*24, 0)}
	if s.compact.MapBytes == 0 {
		s.compact.MapBytes = 1 << 16
	}
	if s.compacts {
		s.log.Compaction = &s.compact
	}
	s.log.Retention = p.policy(r)
	if s.role.follows() {
		s.log.Mode = log.Follower
	}
	s.restarts = r.IntN(3) == 2
	s.log.DeleteDelay = weighted(r, 0, 0, time.Minute)
	s.log.Env.Now = x.clock
	x.note("%s, %s, unit %d, segments of %d bytes, index every %d, codec %v, %v, retention %v, compacts %t, transactions %t (raised %t), delay %v, restarts %t",
		p.name, s.role, s.unit, s.log.SegmentBytes, s.log.IndexInterval, s.log.Compression, s.log.TimestampType,
		s.log.Retention, s.compacts, s.txns, s.raised, s.log.DeleteDelay, s.restarts)
}

func (p *part) policy(r *rand.Rand) retention.Policy {
	age, bytes := retention.MaxAge(2*time.Minute), retention.MaxBytes(3*p.set.log.SegmentBytes)
	floor := retention.Floor(func() int64 { return p.floor })
	return weighted(r, age, bytes, floor, retention.Any(age, bytes, floor), retention.All(age, bytes))
}

// describe is a batch in a few words.
func (b *batch) String() string {
	s := fmt.Sprintf("[%d, %d) epoch %d", b.first, b.next, b.epoch)
	if b.pid >= 0 {
		s += fmt.Sprintf(", producer %d epoch %d sequence %d txn %t", b.pid, b.pepoch, b.sequence, b.txn)
	}
	if b.control {
		s += ", control"
	}
	if b.marker != nil {
		s += fmt.Sprintf(" commit %t", b.marker.commit)
	}
	return s
}
