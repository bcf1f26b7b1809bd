// Package rounds is what the comparisons, bench/peers/compare and bench/broker, have in
// common. In each round all sides take their turn; what is told is the median of the
// rounds, in a page of docs, and the rounds themselves can be kept for benchstat.
package rounds
