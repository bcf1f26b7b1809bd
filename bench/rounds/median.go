package rounds

import (
	"math"
	"slices"
)

// Median is NaN of no values.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Spread is from the least to the greatest value, by the median; 0 where that is 0.
func Spread(values []float64) float64 {
	m := Median(values)
	if len(values) == 0 || m == 0 {
		return 0
	}
	return (slices.Max(values) - slices.Min(values)) / math.Abs(m)
}
