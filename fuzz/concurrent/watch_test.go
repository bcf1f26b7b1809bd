package concurrent

import (
	"runtime"
	"testing"
	"time"
)

// awaited waits for what has to come; if it does not, the stacks of all
// goroutines say where they are. Nothing else here depends on the clock.
func awaited(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		buf := make([]byte, 4<<20)
		t.Fatalf("%s\n%s", what, buf[:runtime.Stack(buf, true)])
	}
}
