// Package concurrent has no code of its own: it is where a log is used by many
// goroutines at once.
//
// Histories of what they did are held against a specification of the log that
// knows no concurrency, with porcupine: every call must have had the result that
// it has when the calls are made one after the other in some order that agrees
// with the clock. What is promised to be so is in package log's comment.
//
//	go test ./fuzz/concurrent -run TestLinearizable -histories 1000
//	go test -tags invariants -race ./fuzz/concurrent -run TestLinearizable/drop -seed 7 -count 100
//
// TestSoak does everything at once and holds what is seen against what must be so
// whatever the order: a record is at one offset for good, readers read upwards,
// Views stay, no call returns an error that is not documented.
//
//	go test -race -tags invariants ./fuzz/concurrent -run TestSoak -soak 30m -timeout 40m
//
// With the tag invariants the engine pauses, at random, between steps that
// matter. A history that is not linearizable is written out as a page to be
// opened in a browser, which shows where it stops being one.
package concurrent
