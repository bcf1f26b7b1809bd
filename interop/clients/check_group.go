package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const groupPartitions = 4

// group: members join and leave while records arrive. Each time the group is
// stable with all partitions given once, and all that arrives comes to a member.
// In the end what is committed is all there is, and the group is empty.
func (b *bench) group(ctx context.Context) error {
	s := &session{bench: b, topic: b.name + "-group", id: b.name + "-group", got: make(map[int]bool)}
	if err := b.topic(ctx, s.topic, groupPartitions); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer func() { cancel(); s.wg.Wait() }()
	a := s.join(ctx)
	if err := s.settled(ctx, 1); err != nil {
		return err
	}
	bb := s.join(ctx)
	if err := s.settled(ctx, 2); err != nil {
		return err
	}
	c := s.join(ctx)
	if err := s.settled(ctx, 3); err != nil {
		return err
	}
	a()
	if err := s.settled(ctx, 2); err != nil {
		return err
	}
	c()
	if err := s.settled(ctx, 1); err != nil {
		return err
	}
	bb()
	s.wg.Wait()
	return s.until(ctx, "the group when all have left", func() error { return errors.Join(s.state(ctx, 0), s.committed(ctx)) })
}

// session is a group and what its members got.
type session struct {
	*bench
	topic, id string
	wg        sync.WaitGroup
	produced  int

	mu  sync.Mutex
	got map[int]bool
	err error
}

// join starts a member and returns how it is told to leave.
func (s *session) join(ctx context.Context) (leave context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	s.wg.Go(func() {
		err := s.member(ctx, s.addr, s.topic, s.id, func(r record) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.got[r.number] = true
		})
		s.mu.Lock()
		defer s.mu.Unlock()
		if err == nil && ctx.Err() == nil {
			err = errors.New("a member ended by itself")
		}
		s.err = errors.Join(s.err, err)
	})
	return cancel
}

// complete is an error unless members got all records.
func (s *session) complete(all int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.got) < all {
		return fmt.Errorf("members got %d of %d records", len(s.got), all)
	}
	return nil
}

func (s *session) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// until is until, which ends at once when a member failed.
func (s *session) until(ctx context.Context, what string, so func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return until(ctx, what, func() error {
		if err := s.failed(); err != nil {
			cancel()
			return err
		}
		return so()
	})
}

// settled waits for the group to have so many members, then produces and waits
// for all that was ever produced to have come.
func (s *session) settled(ctx context.Context, members int) error {
	what := fmt.Sprintf("the group with %d members", members)
	if err := s.until(ctx, what, func() error { return s.state(ctx, members) }); err != nil {
		return err
	}
	for range s.records / 5 {
		var records []*kgo.Record
		for p := range int32(groupPartitions) {
			records = append(records, &kgo.Record{Topic: s.topic, Partition: p, Key: []byte(key(s.produced)), Value: []byte(value(s.produced))})
			s.produced++
		}
		if err := s.cl.ProduceSync(ctx, records...).FirstErr(); err != nil {
			return err
		}
	}
	return s.until(ctx, what, func() error { return s.complete(s.produced) })
}

// state is an error unless the group is stable with so many members, each of
// which has a part of the partitions, or is empty.
func (s *session) state(ctx context.Context, members int) error {
	groups, err := s.DescribeGroups(ctx, s.id)
	if err != nil {
		return err
	}
	g := groups[s.id]
	want := "Stable"
	if members == 0 {
		want = "Empty"
	}
	if g.State != want || len(g.Members) != members {
		return errors.Join(g.Err, fmt.Errorf("%s is %s with %d members", s.id, g.State, len(g.Members)))
	}
	var given []int32
	for _, m := range g.Members {
		assignment, ok := m.Assigned.AsConsumer()
		if !ok || len(assignment.Topics) == 0 {
			return fmt.Errorf("member %s has nothing", m.MemberID)
		}
		for _, t := range assignment.Topics {
			given = append(given, t.Partitions...)
		}
	}
	if slices.Sort(given); members > 0 && !slices.Equal(given, []int32{0, 1, 2, 3}) {
		return fmt.Errorf("members have partitions %d", given)
	}
	return nil
}

func (s *session) committed(ctx context.Context) error {
	offsets, err := s.FetchOffsets(ctx, s.id)
	if err != nil {
		return err
	}
	var n int64
	offsets.Each(func(o kadm.OffsetResponse) { n += o.At })
	if n != int64(s.produced) {
		return fmt.Errorf("offsets committed come to %d, want %d", n, s.produced)
	}
	return nil
}
