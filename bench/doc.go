// Package bench measures the engine: go test -bench . ./bench
//
// One verb per file; names spell their case so that benchstat groups them.
// Every benchmark reports records/s beside ns/op, and MB/s of payload.
package bench
