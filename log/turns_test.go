package log

import (
	"runtime"
	"testing"
)

// Who must have the commit right, to take segments out say, gets it in turn: who
// would only lead a sync is not served before, or a stream of them could keep it
// for ever.
func TestCommitIsServedInTurn(t *testing.T) {
	var c commit
	if !c.try() {
		t.Fatal("it is free and cannot be had")
	}
	got := make(chan int)
	for i := range 3 {
		go func() {
			c.acquire()
			got <- i
		}()
		for c.tickets.Load() <= int64(i) { // it has its ticket
			runtime.Gosched()
		}
	}
	for i := range 3 {
		c.held.Store(false) // given up, and nobody has been woken yet
		if c.try() {
			t.Error("who has no ticket was served before one who has")
		}
		c.freed.Notify()
		if next := <-got; next != i {
			t.Errorf("%d was served, want %d", next, i)
		}
	}
	c.held.Store(false)
	if !c.try() {
		t.Error("it is free and cannot be had")
	}
}
