// Package workload is what the benchmarks of the engine (bench), of the bare
// hardware (bench/limit) and of other engines (bench/peers) have in common, so
// that they do the same: payloads, amounts, the loops that are timed, and the
// ways to measure latency, memory and disk.
//
// Every loop reads back what was written and fails the benchmark if a record is
// missing.
package workload
