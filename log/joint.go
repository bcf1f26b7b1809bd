package log

import "sync"

// joint is something that is done once for all who ask for it at about one time.
// Who asks while it is being done waits for the next time, which all share who ask
// until that begins: what they did before may be too late for this one. The zero
// value is ready.
type joint struct {
	doing sync.Mutex
	mu    struct {
		sync.Mutex
		next *turn
	}
}

// turn is one time. The first of those who share it does it.
type turn struct {
	once sync.Once
	err  error
}

func (j *joint) do(f func() error) error {
	j.mu.Lock()
	if j.mu.next == nil {
		j.mu.next = new(turn)
	}
	t := j.mu.next
	j.mu.Unlock()
	t.once.Do(func() {
		j.doing.Lock()
		defer j.doing.Unlock()
		j.mu.Lock()
		j.mu.next = nil
		j.mu.Unlock()
		t.err = f()
	})
	return t.err
}
