package fuzz

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		child(dir) // never returns: see kill_test.go
	}
	if dir := os.Getenv(queueEnv); dir != "" {
		queueChild(dir) // nor does this: see queue_kill_test.go
	}
	goleak.VerifyTestMain(m)
}
