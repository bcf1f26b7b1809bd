package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/seglog/seglog/record"
)

// amounts are how much is done in a round.
type amounts struct {
	bytes   int64 // of batches before compression
	seconds int   // of what is done at a rate
}

// figures are what came of one round, by unit.
type figures map[string]float64

// row is one thing that is measured. prepare, if not nil, is done once for each
// broker before.
type row struct {
	name    string
	prepare func(ctx context.Context, n *node, how amounts) error
	measure func(ctx context.Context, n *node, how amounts) (figures, error)
	cleanup func(ctx context.Context, n *node) error
	once    bool // another round would say the same
}

func names(rows []row) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString("  " + r.name + "\n")
	}
	return b.String()
}

// rows are all there are, in the order in which they are done.
func rows() []row {
	var all []row
	for _, size := range []int{100, 1024} {
		for _, p := range []int32{1, 6, 100, 1000} {
			for _, codec := range []record.Codec{record.None, record.LZ4} {
				of := load{size: size, partitions: p, codec: codec}
				for _, acks := range []int16{0, 1, -1} {
					all = append(all, produceRow(of, acks))
				}
				all = append(all, consumeRow(of, false), consumeRow(of, true))
			}
		}
	}
	for _, rate := range []int{1000, 10000} {
		for _, acks := range []int16{1, -1} {
			all = append(all, acknowledgeRow(rate, acks))
		}
	}
	return append(all, arriveRow(1000), startRow(), memoryRow())
}

// load is what is produced or consumed.
type load struct {
	size       int // of a record's value
	partitions int32
	codec      record.Codec
}

func (l load) String() string {
	size := "100B"
	if l.size == 1024 {
		size = "1KiB"
	}
	return fmt.Sprintf("%s/p=%d/%s", size, l.partitions, l.codec)
}

func acksName(acks int16) string {
	if acks < 0 {
		return "all"
	}
	return fmt.Sprint(acks)
}

// measureAll does all rows. One that fails is told of and has no figures.
func measureAll(ctx context.Context, nodes []*node, chosen []row, how amounts, got *results) error {
	failed := 0
	for i, r := range chosen {
		err := r.inTurns(ctx, nodes, how, got, fmt.Sprintf("%d/%d", i+1, len(chosen)))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed++
			fmt.Fprintf(os.Stderr, "FAILED %s: %v\n", r.name, err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d rows failed: see above", failed, len(chosen))
	}
	return nil
}

// inTurns does a row by each broker in turns. The first round is not counted.
func (r row) inTurns(ctx context.Context, nodes []*node, how amounts, got *results, at string) error {
	for _, n := range nodes {
		if r.prepare == nil {
			continue
		}
		if err := r.prepare(ctx, n, how); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
	}
	rounds := got.rounds
	if r.once {
		rounds = 0
	}
	for round := range rounds + 1 {
		for i := range nodes {
			n := nodes[(i+round)%len(nodes)] // not always the same first
			f, err := r.measure(ctx, n, how)
			if err != nil {
				return fmt.Errorf("%s: %w", n.name, err)
			}
			if round > 0 || r.once {
				if err := got.add(r.name, n.name, f); err != nil {
					return err
				}
			}
			fmt.Fprintf(os.Stderr, "%s %-40s round %d %-7s %s\n", at, r.name, round, n.name, f)
		}
	}
	for _, n := range nodes {
		if r.cleanup == nil {
			continue
		}
		if err := r.cleanup(ctx, n); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
	}
	return nil
}
