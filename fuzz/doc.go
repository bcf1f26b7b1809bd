// Package fuzz has no code of its own: it is where a whole log is held against
// its model by random operations, crashed, killed and starved.
//
//	go test ./fuzz -run TestPitfallT3Kill -kills=200
//	go test ./fuzz -run TestModel -rapid.checks=2000
//	go test ./fuzz -fuzz FuzzOps -fuzztime 20s
package fuzz
