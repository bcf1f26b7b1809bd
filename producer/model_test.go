package producer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seglog/seglog/record"
)

var seeds = flag.Int("seeds", 40, "how many seeds TestModel tries")

// TestModel: whatever a cluster and its network do, a record whose future says
// so is stored, unless nobody was asked to acknowledge; with idempotence no record
// is stored twice, one that failed neither. With it or with one request in flight
// those of one goroutine to one partition are in order, by where each is first.
func TestModel(t *testing.T) {
	first := rand.Uint64()
	for i := range *seeds {
		seed := first + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { model(t, seed) })
		})
	}
}

type sent struct {
	partition int32 // -1: any
	future    *Future
	value     string
}

func model(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	c := newCluster(seed, 1+rng.IntN(3), map[string]int{"a": 1 + rng.IntN(4), "b": 2})
	defer c.stop()
	c.trouble = []float64{0, 0.02, 0.1, 0.3}[rng.IntN(4)]
	c.slowest = []time.Duration{0, 10 * time.Millisecond, time.Second}[rng.IntN(3)]
	c.maxBatch = []int{1 << 20, 700}[rng.IntN(2)]
	c.retention = rng.IntN(4) == 0
	t.Logf("trouble %v, slowest %v, largest batch %d, retention %t", c.trouble, c.slowest, c.maxBatch, c.retention)
	acks, idempotence := []Acks{AcksAll, AcksAll, AcksLeader, AcksNone}[rng.IntN(4)], Idempotence(IdempotenceWherePossible)
	if rng.IntN(3) == 0 {
		idempotence = IdempotenceOff
	}
	p, err := New(c, Options{
		Acks:            acks,
		Idempotence:     idempotence,
		BatchBytes:      []int{300, 1000, 16 << 10}[rng.IntN(3)],
		BufferBytes:     []int64{20_000, 32 << 20}[rng.IntN(2)],
		Linger:          []time.Duration{NoLinger, 5 * time.Millisecond}[rng.IntN(2)],
		MaxInFlight:     1 + rng.IntN(5),
		Compression:     []record.Codec{record.None, record.LZ4}[rng.IntN(2)],
		RequestTimeout:  2 * time.Second,
		DeliveryTimeout: []time.Duration{5 * time.Second, 10 * time.Minute}[rng.IntN(2)],
		MaxBlock:        time.Hour,
		Partitioner:     []Partitioner{ByKey{}, &RoundRobin{}, &Sticky{}, Adaptive{}}[rng.IntN(4)],
	})
	if err != nil {
		t.Fatal(err)
	}
	const senders, each = 4, 150
	all := make([][]sent, senders)
	var group sync.WaitGroup
	for g := range senders {
		rng := rand.New(rand.NewPCG(seed, uint64(10+g)))
		group.Go(func() {
			for i := range each {
				s := sent{partition: -1, value: fmt.Sprintf("%d:%d", g, i)}
				r := Record{Topic: "a", Value: []byte(s.value), Key: []byte("pad to some length, to have several batches")}
				if rng.IntN(3) == 0 {
					r.Topic = "b"
					s.partition = rng.Int32N(2)
					r.Partition = At(s.partition)
				}
				s.future = p.Send(context.Background(), r)
				all[g] = append(all[g], s)
				switch rng.IntN(20) {
				case 0:
					time.Sleep(time.Duration(rng.IntN(50)) * time.Millisecond)
				case 1:
					_, _ = s.future.Wait(context.Background())
				}
			}
		})
	}
	group.Wait()
	if err := p.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	check(t, c, p, all)
}

// check holds what the cluster has against what the futures say.
func check(t *testing.T, c *cluster, p *Producer, all [][]sent) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	type place struct {
		topic     string
		partition int32
		offset    int64
	}
	idempotent := p.opts.Idempotence == IdempotenceOn
	inOrder := idempotent || p.opts.MaxInFlight == 1
	at := make(map[string][]place)
	for topic, partitions := range c.topics {
		for n, part := range partitions {
			last := make(map[int]int)
			for offset, r := range part.records {
				v, here := string(r.Value), place{topic, int32(n), int64(offset)}
				before := at[v]
				at[v] = append(before, here)
				if len(before) > 0 {
					if idempotent {
						t.Errorf("%s is stored at %v and at %v", v, before[0], here)
					}
					continue
				}
				var g, i int
				if _, err := fmt.Sscanf(v, "%d:%d", &g, &i); err != nil {
					t.Fatal(err)
				}
				if l, ok := last[g]; inOrder && ok && l > i {
					t.Errorf("%s/%d: %s is behind %d:%d", topic, n, v, g, l)
				}
				last[g] = i
			}
		}
	}
	failed := int64(0)
	for _, list := range all {
		for _, s := range list {
			d, err := s.future.Result()
			places := at[s.value]
			switch {
			case err == nil && p.opts.Acks == AcksNone && d.Stored:
				t.Errorf("%s: nobody can have said that it is stored: %+v", s.value, d)
			case err == nil && p.opts.Acks == AcksNone && len(places) == 0:
				// Nobody can have said that it is not.
			case err == nil && len(places) == 0:
				t.Errorf("%s was acknowledged (%+v) and is not stored", s.value, d)
			case err == nil && d.Stored && !slices.Contains(places, place{d.Topic, d.Partition, d.Offset}):
				t.Errorf("%s is at %v, acknowledged at %+v", s.value, places, d)
			case err == nil && !slices.ContainsFunc(places, func(at place) bool { return at.topic == d.Topic && at.partition == d.Partition }):
				t.Errorf("%s is at %v, acknowledged for %s/%d", s.value, places, d.Topic, d.Partition)
			case err == nil && s.partition >= 0 && d.Partition != s.partition:
				t.Errorf("%s went to partition %d, was for %d", s.value, d.Partition, s.partition)
			case err != nil && !errors.Is(err, ErrTimeout) && !(c.retention && errors.Is(err, ErrUnknownProducerID)):
				t.Errorf("%s: %v", s.value, err)
			}
			if err != nil {
				failed++
			}
		}
	}
	stats := p.Stats()
	if stats.Failed != failed || stats.InFlight != 0 || stats.Waiting != 0 || stats.BufferAvailable != p.opts.BufferBytes {
		t.Errorf("%d failed, and at the end: %+v", failed, stats)
	}
	if c.mostFlying > p.opts.MaxInFlight {
		t.Errorf("%d requests in flight, want at most %d", c.mostFlying, p.opts.MaxInFlight)
	}
}
