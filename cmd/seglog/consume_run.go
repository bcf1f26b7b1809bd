package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/group/assign"
)

// consumer prints what a client fetches.
type consumer struct {
	asked  cluster     // for what is no fetch: the client has its own for that
	client *kgo.Client // reads
	topics []string
	ids    map[string][16]byte
	group  string // "" for none
	level  int8
	format consumeFormat
	out    *output
	stderr io.Writer
	left   int64 // records still to be printed, 0 for all there are
	ends   bool  // at the end of the partitions
	grows  bool  // by the partitions that the topics get

	began   time.Time // zero: nothing was read
	printed int64

	mu struct {
		sync.Mutex // a group's callbacks come whenever they like
		partitions map[assign.TopicPartition]*position
	}
}

// position is how far a partition was read: up to next, of what ends at end.
type position struct{ next, end int64 }

func (p *position) done() bool { return p.next >= p.end }

const (
	pollFor    = 200 * time.Millisecond // without records; then it is looked what else there is to do
	checkEvery = 3 * time.Second        // that the broker and the topics are there
)

// errDone is how a consumer ends that has printed all it was to.
var errDone = errors.New("done")

// run prints until there is nothing more to print, or ctx ends.
func (c *consumer) run(ctx context.Context) error {
	checked := time.Now()
	for {
		if ctx.Err() != nil { // more may have been fetched all the same
			return c.leave(context.Cause(ctx))
		}
		if c.ends && c.allDone() {
			return c.leave(nil)
		}
		n, err := c.poll(ctx)
		if errors.Is(err, errDone) {
			return c.leave(nil)
		}
		if err == nil && n == 0 && c.ends {
			err = c.passOver(ctx)
		}
		if err == nil && time.Since(checked) > checkEvery {
			err = c.check(ctx)
			checked = time.Now()
		}
		if err != nil {
			return c.leave(whyFailed(ctx, err))
		}
	}
}

// poll prints what has been fetched, and says how many records that were.
func (c *consumer) poll(ctx context.Context) (n int, err error) {
	const most = 10_000
	limit := most
	if c.left > 0 {
		limit = int(min(c.left, most))
	}
	polling, cancel := context.WithTimeout(ctx, pollFor)
	defer cancel()
	fetches := c.client.PollRecords(polling, limit)
	if c.group != "" {
		defer c.client.AllowRebalance()
	}
	for _, failed := range fetches.Errors() {
		if err := c.failed(failed); err != nil {
			return 0, err
		}
	}
	var last []*kgo.Record
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if err == nil || errors.Is(err, errDone) {
			var printed *kgo.Record
			if printed, err = c.print(p, err); printed != nil {
				last = append(last, printed)
			}
		}
		n += len(p.Records)
	})
	if flushing := c.out.flush(); flushing != nil {
		return n, flushing
	}
	if c.group != "" {
		c.client.MarkCommitRecords(last...)
	}
	return n, err
}

// print prints the records of a partition that are to be, and returns the last of them.
func (c *consumer) print(p kgo.FetchTopicPartition, enough error) (last *kgo.Record, err error) {
	if enough != nil || len(p.Records) == 0 {
		return nil, enough
	}
	c.mu.Lock()
	at := c.mu.partitions[assign.TopicPartition{Topic: p.Topic, Partition: p.Partition}]
	c.mu.Unlock()
	if at == nil { // taken away meanwhile
		return nil, nil
	}
	for _, r := range p.Records {
		if c.ends && r.Offset >= at.end {
			at.next = max(at.next, at.end)
			break
		}
		at.next, last = r.Offset+1, r
		if r.Attrs.IsControl() {
			continue
		}
		if err := c.out.wrote(c.format(c.out.buffer(), r)); err != nil {
			return nil, err
		}
		c.printed++
		if c.left > 0 {
			if c.left--; c.left == 0 {
				return last, errDone
			}
		}
	}
	if c.ends && at.done() {
		c.client.PauseFetchPartitions(map[string][]int32{p.Topic: {p.Partition}})
	}
	return last, nil
}

// failed is the error of a fetch, nil where the client goes on by itself.
func (c *consumer) failed(f kgo.FetchError) error {
	var lost *kgo.ErrDataLoss
	var known *kerr.Error
	switch err := f.Err; {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return nil // of the poll
	case errors.As(err, &lost):
		_, err = fmt.Fprintf(c.stderr, "seglog: %s-%d: records were dropped: offset %d is read instead of %d\n", lost.Topic, lost.Partition, lost.ResetTo, lost.ConsumedTo)
		return err
	case errors.As(err, &known) && (known.Retriable || rejoins(known)):
		return nil
	case errors.As(err, new(*kgo.ErrGroupSession)):
		if known == nil { // the connection; see check
			return nil
		}
		return fmt.Errorf("group %s: %w", c.group, known)
	case f.Topic != "":
		return fmt.Errorf("%s-%d: %w", f.Topic, f.Partition, err)
	default:
		return err
	}
}

// rejoins says that a member that is told so joins its group again.
func rejoins(err *kerr.Error) bool {
	return err == kerr.UnknownMemberID || err == kerr.IllegalGeneration || err == kerr.RebalanceInProgress
}

// check makes sure that more can come, also of partitions that are new.
func (c *consumer) check(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, askedFor)
	defer cancel()
	topics, err := c.asked.metadata(asking, c.topics)
	var gone unknownTopic
	switch {
	case err == nil:
		if c.grows {
			c.grow(topics)
		}
		return nil
	case ctx.Err() != nil:
		return err
	case errors.As(err, &gone):
		return fmt.Errorf("topic %s was deleted meanwhile", gone.name)
	}
	return fmt.Errorf("the broker does not answer any more: %w", unreached(err))
}

// grow reads the partitions that were not there before, from their beginning.
func (c *consumer) grow(topics []kmsg.MetadataResponseTopic) {
	added := make(map[assign.TopicPartition]bounds)
	c.mu.Lock()
	for _, t := range topics {
		for _, p := range t.Partitions {
			if tp := (assign.TopicPartition{Topic: *t.Topic, Partition: p.Partition}); c.mu.partitions[tp] == nil {
				added[tp] = bounds{}
			}
		}
	}
	c.mu.Unlock()
	if len(added) > 0 {
		c.assign(added)
		c.client.AddConsumePartitions(placesOf(added))
	}
}

// leave commits what was printed, which is not lost for that the command ends.
func (c *consumer) leave(err error) error {
	if c.group == "" {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), askedFor)
	defer cancel()
	if committing := c.client.CommitMarkedOffsets(ctx); committing != nil {
		if errors.As(err, new(interrupted)) {
			err = nil // this weighs more
		}
		return errors.Join(err, fmt.Errorf("what was printed could not be committed, and comes again: %w", committing))
	}
	return err
}
