package retention_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/seglog/seglog/retention"
)

var now = time.UnixMilli(1_800_000_000_000)

// segments has one segment a minute, the oldest five minutes old, ten offsets
// and 100 bytes each, the active one last.
func segments() []retention.Segment {
	var s []retention.Segment
	for i := range int64(5) {
		s = append(s, retention.Segment{
			Base: i * 10, Next: i*10 + 10, Bytes: 100,
			MaxTime: now.Add(-time.Duration(5-i) * time.Minute),
		})
	}
	return s
}

func TestPolicies(t *testing.T) {
	floor := func(at int64) retention.Policy { return retention.Floor(func() int64 { return at }) }
	for _, c := range []struct {
		name   string
		policy retention.Policy
		want   int
	}{
		{"age is strict: exactly as old stays", retention.MaxAge(4 * time.Minute), 1},
		{"a little younger goes", retention.MaxAge(4*time.Minute - 1), 2},
		{"the active segment goes as well", retention.MaxAge(time.Minute - 1), 5},
		{"the active segment is not old enough", retention.MaxAge(time.Minute), 4},
		{"a negative age is no limit", retention.MaxAge(-1), 0},
		{"nothing is old", retention.MaxAge(time.Hour), 0},
		{"bytes: down to the limit exactly", retention.MaxBytes(300), 2},
		{"bytes: never below the limit", retention.MaxBytes(301), 1},
		{"bytes: one keeps the active segment", retention.MaxBytes(1), 4},
		{"bytes: zero keeps nothing", retention.MaxBytes(0), 5},
		{"bytes: exactly as much as there is", retention.MaxBytes(500), 0},
		{"bytes: a negative limit is none", retention.MaxBytes(-1), 0},
		{"bytes: more than there is", retention.MaxBytes(501), 0},
		{"floor at a boundary", floor(20), 2},
		{"floor inside a segment keeps it", floor(29), 2},
		{"floor at the start", floor(0), 0},
		{"floor at the end keeps the active segment", floor(50), 4},
		{"any is the larger", retention.Any(retention.MaxBytes(300), floor(30)), 3},
		{"all is the smaller", retention.All(retention.MaxBytes(300), floor(30)), 2},
		{"all with a floor keeps the active segment", retention.All(retention.MaxAge(0), floor(50)), 4},
		{"any with a floor does not", retention.Any(retention.MaxAge(0), floor(50)), 5},
		{"any of none", retention.Any(), 0},
		{"all of none", retention.All(), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, c.policy.Expired(segments(), now))
		})
	}
}

func TestFutureTimestampKeepsWhatFollows(t *testing.T) {
	s := segments()
	s[1].MaxTime = now.Add(time.Hour)
	assert.Equal(t, 1, retention.MaxAge(time.Second).Expired(s, now))
}

func TestStringTellsThePolicy(t *testing.T) {
	p := retention.Any(retention.MaxAge(time.Hour), retention.All(retention.MaxBytes(7), retention.Floor(func() int64 { return 0 })))
	assert.Equal(t, "older than 1h0m0s or beyond 7 bytes and below the floor", p.String())
	assert.Equal(t, "nothing", retention.Any().String())
}

// TestSizesOfNothing: segments without a byte, as compaction leaves them, go
// with the others, and only if the size is reached.
func TestSizesOfNothing(t *testing.T) {
	s := segments()
	s[0].Bytes, s[2].Bytes = 0, 0
	for limit, want := range map[int64]int{301: 0, 300: 1, 299: 1, 200: 3, 101: 3, 100: 4} {
		assert.Equal(t, want, retention.MaxBytes(limit).Expired(s, now), "%d bytes", limit)
	}
}

// Whatever the policy and the segments, what goes is a prefix, the size never
// falls below its limit, and Any and All lie where their parts do.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s []retention.Segment
		next := int64(0)
		for range rapid.IntRange(0, 12).Draw(t, "segments") {
			base := next
			next += rapid.Int64Range(0, 5).Draw(t, "records")
			s = append(s, retention.Segment{
				Base: base, Next: next, Bytes: rapid.Int64Range(0, 1000).Draw(t, "bytes"),
				MaxTime: now.Add(time.Duration(rapid.Int64Range(-100, 10).Draw(t, "age")) * time.Second),
			})
		}
		age := retention.MaxAge(time.Duration(rapid.Int64Range(0, 100).Draw(t, "limit")) * time.Second)
		limit := rapid.Int64Range(0, 5000).Draw(t, "bytes limit")
		size := retention.MaxBytes(limit)
		a, b := age.Expired(s, now), size.Expired(s, now)
		assert.LessOrEqual(t, a, len(s))
		assert.Equal(t, max(a, b), retention.Any(age, size).Expired(s, now))
		assert.Equal(t, min(a, b), retention.All(age, size).Expired(s, now))

		if b > 0 {
			kept := int64(0)
			for _, seg := range s[b:] {
				kept += seg.Bytes
			}
			assert.GreaterOrEqual(t, kept, limit, "the size never falls below the limit")
		}
	})
}
