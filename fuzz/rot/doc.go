// Package rot has no code of its own: it is where each bit of the files of small
// logs is flipped in turn, and where what is read of them then is held against
// what was written.
//
// The outcome is one of these: the same data, or an error that names file,
// position and offset. What passes all the same is listed, with reasons, in
// unnoticed_test.go.
//
//	go test ./fuzz/rot                        a bit here and there
//	go test ./fuzz/rot -every 1 -timeout 1h   every bit, in every state
//	go test ./fuzz/rot -every 1 -on 1 -timeout 3h   and each log that opens goes on
//	go test ./fuzz/rot -run TestLarge -harms 2000 -seed 7   stretches of a larger log: others, and more of them
package rot
