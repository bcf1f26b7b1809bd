package differential

import "slices"

// shorten leaves out of a conversation's steps what a difference does without:
// differs tells whether it is still there.
func shorten(steps []step, differs func([]step) bool) []step {
	for size := len(steps) / 2; size > 0; size /= 2 {
		for from := len(steps) - size; from >= 0; from -= size {
			if less := slices.Delete(slices.Clone(steps), from, from+size); differs(less) {
				steps = less
			}
			from = min(from, len(steps))
		}
	}
	return steps
}
