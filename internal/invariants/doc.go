// Package invariants holds checks that only builds with the tag "invariants"
// pay for, and the places where tests of concurrency come in. Elsewhere its
// functions are empty and inlined away:
//
//	go test -tags invariants ./...
package invariants
