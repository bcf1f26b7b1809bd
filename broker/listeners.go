package broker

import "sync"

// listeners are told that there are other topics or partitions than before.
type listeners struct {
	mu  sync.Mutex
	all map[*func()]struct{}
}

// OnTopics has told called after each change of which topics and partitions
// there are, and after Close, until stop is called. It is called by who makes
// the change, with locks held: it must neither block nor call the broker.
func (b *Broker) OnTopics(told func()) (stop func()) {
	l := &b.listeners
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = make(map[*func()]struct{})
	}
	l.all[&told] = struct{}{}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, &told)
	}
}

func (l *listeners) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for told := range l.all {
		(*told)()
	}
}
