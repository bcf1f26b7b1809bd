package compact

import (
	"math"

	"github.com/seglog/seglog/segment"
)

// group is a run of segments that become one: [from, to) by number.
type group struct{ from, to int }

// groups joins segments in a row as long as what they hold together fits one,
// by their sizes before cleaning, and the last offset can be told from the first
// base (Cleaner.groupSegmentsBySize in Kafka).
func groups(facts []segment.Facts, maxBytes, maxIndexBytes int64) (list []group) {
	for i := 0; i < len(facts); {
		g, sum := group{i, i + 1}, facts[i]
		for ; g.to < len(facts); g.to++ {
			f := facts[g.to]
			sum.Size, sum.IndexBytes, sum.TimeBytes = sum.Size+f.Size, sum.IndexBytes+f.IndexBytes, sum.TimeBytes+f.TimeBytes
			if sum.Size > maxBytes || sum.IndexBytes > maxIndexBytes || sum.TimeBytes > maxIndexBytes ||
				f.Size > 0 && f.Next-1-facts[i].Base > math.MaxInt32 {
				break
			}
		}
		list, i = append(list, g), g.to
	}
	return list
}
