package producer

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// topic is the topic of that name, made when it is first asked for.
func (p *Producer) topic(name string) *topic {
	if t, ok := p.topics.Load(name); ok {
		return t.(*topic)
	}
	t, _ := p.topics.LoadOrStore(name, newTopic(name))
	return t.(*topic)
}

// await waits until the sink has told of a topic, and of partition n if there
// is one, maxBlock at most.
func (p *Producer) await(ctx context.Context, t *topic, r *Record, maxBlock time.Duration) (*partitions, error) {
	n, named := r.Partition.Number()
	enough := func(known *partitions) bool {
		return known != nil && known.Partitions > 0 && (!named || int(n) < known.Partitions)
	}
	if known := t.known.Load(); enough(known) {
		return known, nil
	}
	timer := time.NewTimer(maxBlock)
	defer timer.Stop()
	for {
		changed, retryAt, err := p.fetch(t)
		known := t.known.Load()
		switch {
		case enough(known):
			return known, nil
		case err != nil && !retriable(err):
			return nil, fmt.Errorf("%w of topic %q: %w", ErrMetadata, t.name, err)
		}
		var again <-chan time.Time
		if !retryAt.IsZero() {
			again = time.After(time.Until(retryAt))
		}
		select {
		case <-changed:
		case <-again:
		case <-timer.C:
			switch {
			case named && known != nil:
				err = fmt.Errorf("it has %d partitions, none is number %d", known.Partitions, n)
			case err == nil:
				err = errors.New("no answer")
			}
			return nil, fmt.Errorf("%w of topic %q within %v: %w", ErrMetadata, t.name, maxBlock, err)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-p.closed:
			return nil, ErrClosed
		}
	}
}

// fetch has the sink asked about a topic, unless it is being asked or has
// failed a short while ago. The channel is closed when there is an answer; err
// is of the last one, and retryAt when a failed one is asked again at the
// earliest.
func (p *Producer) fetch(t *topic) (changed <-chan struct{}, retryAt time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.fetching {
		return t.mu.changed, time.Time{}, nil
	}
	if time.Now().Before(t.mu.retryAt) {
		return t.mu.changed, t.mu.retryAt, t.mu.err
	}
	t.mu.fetching = true
	p.group.Go(func() { p.ask(t) })
	return t.mu.changed, time.Time{}, nil
}

// ask is one fetch.
func (p *Producer) ask(t *topic) {
	ctx, cancel := context.WithTimeoutCause(p.sender.calls, p.opts.RequestTimeout, errRequestTimeout)
	defer cancel()
	infos, err := p.sink.Topic(ctx, t.name)
	if err == nil && len(infos) == 0 {
		err = fmt.Errorf("%w: topic %q has no partitions", ErrUnavailable, t.name)
	}
	now := time.Now()
	if err == nil {
		t.learn(p.acc, infos, now)
	} else {
		p.opts.Logger.Warn("producer: no metadata", "topic", t.name, "error", err)
	}
	t.mu.Lock()
	t.mu.fetching = false
	t.mu.err = err
	// Also after a good answer: the sink may not know better yet.
	t.mu.retryAt = now.Add(p.opts.backoff(t.mu.failures))
	if t.mu.failures++; err == nil {
		t.mu.failures = 0
	}
	close(t.mu.changed)
	t.mu.changed = make(chan struct{})
	t.mu.Unlock()
	p.sender.nudge()
}
