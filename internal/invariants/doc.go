// Package invariants holds checks that only builds with the tag "invariants"
// pay for. Elsewhere its functions are empty and inlined away:
//
//	go test -tags invariants ./...
package invariants
