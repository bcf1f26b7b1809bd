package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
)

const kills = 3

// killed: a broker is killed and started again while the client produces and a
// member of a group consumes. Nothing that was acknowledged is lost; of an
// idempotent producer nothing is there twice or in another order, either. All
// of it comes to the member.
func (b *bench) killed(ctx context.Context) (err error) {
	broker, err := newBroker(ctx, b.program, filepath.Join(b.dir, b.name+"-killed"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, broker.Stop()) }()
	j, err := newJudge(broker.Addr())
	if err != nil {
		return err
	}
	defer j.close()
	own := *b
	own.judge = j
	s := &session{bench: &own, topic: "t", id: "g", got: make(map[int]bool)}
	if err := j.topic(ctx, s.topic, groupPartitions); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer func() { cancel(); s.wg.Wait() }()
	leave := s.join(ctx)
	if err := s.until(ctx, "the group", func() error { return s.state(ctx, 1) }); err != nil {
		return err
	}

	p := produce{topic: s.topic, acks: "idempotent", codec: "none", to: 4 * b.records, live: true}
	var acked []int
	due := make(chan struct{}, kills)
	told := func(n int) {
		acked = append(acked, n)
		if each := p.to / (kills + 1); len(acked)%each == 0 && len(acked)/each <= kills {
			due <- struct{}{}
		}
	}
	var restarts error
	killed := 0
	var wg sync.WaitGroup
	wg.Go(func() {
		for range due {
			killed++
			broker.Kill()
			if restarts = broker.Start(ctx); restarts != nil {
				cancel()
				return
			}
		}
	})
	err = s.produce(ctx, j.addr, p, told)
	once := !errors.Is(err, errUnable)
	if !once {
		p.acks = "all"
		err = s.produce(ctx, j.addr, p, told)
	}
	close(due)
	wg.Wait()
	if err = errors.Join(err, restarts); err != nil {
		return err
	}
	if killed != kills {
		return fmt.Errorf("it was killed %d times, for %d records acknowledged", killed, len(acked))
	}
	if err := s.survived(ctx, acked, once); err != nil {
		return err
	}
	err = s.until(ctx, "the member", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, n := range acked {
			if !s.got[n] {
				return fmt.Errorf("it did not get %d, which was acknowledged", n)
			}
		}
		return nil
	})
	leave()
	s.wg.Wait()
	return errors.Join(err, s.failed())
}

// survived compares what is there with what was acknowledged.
func (s *session) survived(ctx context.Context, acked []int, once bool) error {
	size, err := s.size(ctx, s.topic)
	if err != nil {
		return err
	}
	records, err := s.read(ctx, s.topic, size)
	if err != nil {
		return err
	}
	seen, last := make(map[int]int), make(map[int32]int)
	for _, r := range records {
		n := number(r.Value)
		seen[n]++
		if before, ok := last[r.Partition]; once && ok && n <= before {
			return fmt.Errorf("%d@%d is %d, after %d, of an idempotent producer", r.Partition, r.Offset, n, before)
		}
		last[r.Partition] = n
	}
	for _, n := range acked {
		if seen[n] == 0 || once && seen[n] > 1 {
			return fmt.Errorf("%d was acknowledged and is there %d times", n, seen[n])
		}
	}
	return nil
}
