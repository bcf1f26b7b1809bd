// Package retention decides which segments of a log may go.
//
// A Policy is a pure function over facts about segments: no file, no clock of
// its own. It says how many of the oldest may go; whoever asks drops them, and
// only whole ones, oldest first and never beyond the high watermark. Where all
// may go a new segment is begun first, and the log is empty then.
//
// The rules are Kafka's (UnifiedLog.deleteOldSegments), where it has them.
package retention

import (
	"fmt"
	"strings"
	"time"
)

// Segment is what a policy may know of a segment.
type Segment struct {
	Base    int64     // base offset
	Next    int64     // offset after the last record
	Bytes   int64     // size of its .log
	MaxTime time.Time // largest timestamp, or when the file was changed last where no record has one
}

// Policy says how many of the oldest segments may go. segments is every
// segment of the log, oldest first, the active one last; the result is at most
// len(segments), and an active one that is empty stays whatever it is. It must
// not keep or change the slice.
type Policy interface {
	Expired(segments []Segment, now time.Time) int
	// String tells the policy in words, for reports and logs.
	String() string
}

// MaxAge lets a segment go once its largest timestamp is older than age, as
// Kafka's retention.ms: whole segments, so a record may stay readable until
// the youngest of its segment is too old. A timestamp in the future keeps its
// segment and all behind it. The active segment goes as well, so that a log that
// nobody appends to any more does not keep its last records for ever. A negative
// age is no limit, as Kafka's -1.
func MaxAge(age time.Duration) Policy { return maxAge(age) }

// MaxBytes lets the oldest segments go while the log without them still has at
// least limit bytes, as Kafka's retention.bytes: the size never falls below
// the limit by it. With a limit of 0 the active segment goes as well. A negative
// one is no limit, as Kafka's -1.
func MaxBytes(limit int64) Policy { return maxBytes(limit) }

// Floor lets segments go whose every offset is below the one floor returns: what every
// consumer has acknowledged. The active one stays, as it does when the log start
// offset rises above it: consumers that are up to date would else end a segment
// each time. floor is called once per decision and must be safe to call from the
// goroutine that decides.
func Floor(floor func() int64) Policy { return floorPolicy(floor) }

// Any lets go what at least one of the policies lets go: the usual way to
// combine limits. Without policies it lets nothing go.
func Any(policies ...Policy) Policy { return anyOf(policies) }

// All lets go only what every one of the policies lets go: old enough and
// acknowledged, say. Without policies it lets nothing go.
func All(policies ...Policy) Policy { return allOf(policies) }

type maxAge time.Duration

func (p maxAge) Expired(segments []Segment, now time.Time) int {
	if p < 0 {
		return 0
	}
	return leading(segments, func(s Segment) bool { return now.Sub(s.MaxTime) > time.Duration(p) })
}

func (p maxAge) String() string { return "older than " + time.Duration(p).String() }

type maxBytes int64

func (p maxBytes) Expired(segments []Segment, _ time.Time) int {
	if p < 0 {
		return 0
	}
	excess := -int64(p)
	for _, s := range segments {
		excess += s.Bytes
	}
	return leading(segments, func(s Segment) bool {
		excess -= s.Bytes
		return excess >= 0
	})
}

func (p maxBytes) String() string { return fmt.Sprintf("beyond %d bytes", int64(p)) }

type floorPolicy func() int64

func (p floorPolicy) Expired(segments []Segment, _ time.Time) int {
	floor := p()
	return leading(segments[:max(len(segments)-1, 0)], func(s Segment) bool { return s.Next <= floor })
}

func (p floorPolicy) String() string { return "below the floor" }

type anyOf []Policy

func (p anyOf) Expired(segments []Segment, now time.Time) int {
	n := 0
	for _, q := range p {
		n = max(n, q.Expired(segments, now))
	}
	return n
}

func (p anyOf) String() string { return join(p, " or ") }

type allOf []Policy

func (p allOf) Expired(segments []Segment, now time.Time) int {
	if len(p) == 0 {
		return 0
	}
	n := len(segments)
	for _, q := range p {
		n = min(n, q.Expired(segments, now))
	}
	return n
}

func (p allOf) String() string { return join(p, " and ") }

// leading counts the segments from the oldest on for which ok holds.
func leading(segments []Segment, ok func(Segment) bool) int {
	for i, s := range segments {
		if !ok(s) {
			return i
		}
	}
	return len(segments)
}

func join(policies []Policy, word string) string {
	if len(policies) == 0 {
		return "nothing"
	}
	words := make([]string, len(policies))
	for i, p := range policies {
		words[i] = p.String()
	}
	return strings.Join(words, word)
}
