package fuzz

import (
	"testing"

	"pgregory.net/rapid"
)

// TestModel: whatever is done in whatever order, the log is what its model is;
// after a crash it is what the model allows, a second open repairs nothing, and
// it goes on from there.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		newMachine(t, &drawn{t: t, steps: 60}).run()
	})
}
