package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// input is where records come from: stdin without a name, or a file.
type input struct {
	name  string
	open  func() (io.ReadCloser, error)
	lines bool // each is a record; else all of it is
}

// place is where in an input a record is: its number, from 1 on.
func (i *input) place(n int64) string {
	switch {
	case i.name == "":
		return fmt.Sprintf("line %d", n)
	case i.lines:
		return fmt.Sprintf("%s:%d", i.name, n)
	}
	return i.name
}

// sender makes records of inputs and sends them.
type sender struct {
	client       *kgo.Client
	topic        string
	partition    int32
	key          []byte // of all records, nil for none
	keyDelimiter []byte // empty: no keys in lines
	delimiter    []byte
	headers      []kgo.RecordHeader
	null         bool
	left         int64 // records still to be sent, 0 for all there are
	most         int   // bytes of a record
	timeout      time.Duration

	sending context.Context // ends when no answer is waited for any more
	slab    slab
	failed  chan struct{} // closed when a record is not acknowledged

	mu struct {
		sync.Mutex
		sent, acknowledged, failed int64
		first                      failure // of those that failed
		progress                   time.Time
	}
}

// failure is what became of the record that was sent as number n.
type failure struct {
	n   int64
	err error
}

// stopWithin is how long a signal waits for what was read to be acknowledged.
const stopWithin = 10 * time.Second

// errEnough ends reading: there are as many records as are wanted, or one failed.
var errEnough = errors.New("enough")

// sendAll sends all that the inputs have, or what was read of them when ctx ends,
// and returns when that is acknowledged or given up.
func (s *sender) sendAll(ctx context.Context, inputs []*input) error {
	sending, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveUp(nil)
	s.sending = sending
	go s.watch(giveUp)
	defer context.AfterFunc(ctx, func() {
		why := fmt.Errorf("not within %s after the signal", stopWithin)
		time.AfterFunc(stopWithin, func() { giveUp(why) })
	})()
	var err error
	for _, in := range inputs {
		if err = s.send(ctx, in); err != nil {
			break
		}
	}
	s.flush()
	acknowledged, unacknowledged, first := s.counts()
	if unacknowledged > 0 { // weighs more than a signal
		return fmt.Errorf("%s acknowledged, %s not, the first of them %w", plural(acknowledged, "record"), plural(unacknowledged, "record"), first)
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// watch gives up when nothing is acknowledged for too long: the client looks at
// its time-outs only when an answer comes, and none may.
func (s *sender) watch(giveUp context.CancelCauseFunc) {
	const apart, after = 250 * time.Millisecond, 2 * time.Second // for the client to be first, which knows why
	tick := time.NewTicker(apart)
	defer tick.Stop()
	for {
		select {
		case <-s.sending.Done():
			return
		case <-tick.C:
			s.mu.Lock()
			stuck := s.mu.sent > s.mu.acknowledged+s.mu.failed && time.Since(s.mu.progress) > s.timeout+after
			s.mu.Unlock()
			if stuck {
				giveUp(fmt.Errorf("nothing was acknowledged for %s (--timeout); it may be stored all the same", s.timeout))
			}
		}
	}
}

// flush waits for what is on its way, or when no answer is waited for any more
// for it to be told that it failed.
func (s *sender) flush() {
	if s.client.Flush(s.sending) == nil {
		return
	}
	s.client.UnsafeAbortBufferedRecords()
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	_ = s.client.Flush(ctx) // what is not told then counts as not acknowledged
}

func (s *sender) counts() (acknowledged, unacknowledged int64, first error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first = s.mu.first.err; first == nil {
		first = context.Cause(s.sending)
	}
	return s.mu.acknowledged, s.mu.sent - s.mu.acknowledged, first
}

// send sends what one input has.
func (s *sender) send(ctx context.Context, in *input) error {
	r, err := in.open()
	if err != nil {
		return err
	}
	defer r.Close()
	if !in.lines {
		all, err := io.ReadAll(io.LimitReader(r, int64(s.most)+1))
		if err != nil {
			return err
		}
		if len(all) > s.most {
			return fmt.Errorf("%s is longer than %s; raise --batch-bytes, or send its lines with --lines", in.name, formatSize(int64(s.most)))
		}
		return s.produce(in, 1, s.key, all)
	}
	n := int64(0)
	l := lines{delimiter: s.delimiter, most: s.most}
	each := func(line []byte) error {
		n++
		return s.line(in, n, line)
	}
	err = s.read(ctx, newChunks(r), &l, each)
	var long longLine
	if errors.As(err, &long) {
		return fmt.Errorf("%s has %s or more, but a record has to fit %s; the records before it are sent: split it or raise --batch-bytes and the topic's max.message.bytes",
			in.place(n+1), formatSize(int64(long.bytes)), formatSize(int64(s.most)))
	}
	return err
}

// read takes chunks until their end, a failure or a signal, after which it only
// takes what was read ahead.
func (s *sender) read(ctx context.Context, in *chunks, l *lines, each func([]byte) error) error {
	for {
		select {
		case <-ctx.Done():
			for {
				select {
				case chunk, ok := <-in.full:
					if !ok {
						return errors.Join(l.finish(each), in.err, context.Cause(ctx))
					}
					if err := l.take(chunk, each); err != nil {
						return err
					}
				default:
					return context.Cause(ctx)
				}
			}
		case <-s.failed:
			return errEnough
		case chunk, ok := <-in.full:
			if !ok {
				return errors.Join(l.finish(each), in.err)
			}
			if err := l.take(chunk, each); err != nil {
				return err
			}
			in.giveBack(chunk)
		}
	}
}

func (s *sender) line(in *input, n int64, line []byte) error {
	key, value := s.key, line
	if len(s.keyDelimiter) > 0 {
		if k, v, ok := bytes.Cut(line, s.keyDelimiter); ok {
			key, value = s.slab.copy(k), v
			if s.null && len(k) == 0 {
				key = nil
			}
		}
	}
	return s.produce(in, n, key, s.slab.copy(value))
}

// produce hands a record over, which waits while too many are on their way.
func (s *sender) produce(in *input, n int64, key, value []byte) error {
	if s.null && len(value) == 0 {
		value = nil
	}
	r := s.slab.record()
	r.Topic, r.Partition, r.Key, r.Value, r.Headers = s.topic, max(s.partition, 0), key, value, s.headers
	s.mu.Lock()
	if s.mu.sent++; s.mu.sent == 1+s.mu.acknowledged+s.mu.failed {
		s.mu.progress = time.Now()
	}
	number := s.mu.sent
	s.mu.Unlock()
	s.client.Produce(s.sending, r, func(_ *kgo.Record, err error) { s.answered(in, n, number, err) })
	if s.left > 0 {
		if s.left--; s.left == 0 {
			return errEnough
		}
	}
	select {
	case <-s.failed:
		return errEnough
	default:
		return nil
	}
}

// answered is what became of a record. Those that fail do not in their order.
func (s *sender) answered(in *input, n, number int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.mu.acknowledged++
		s.mu.progress = time.Now()
		return
	}
	if s.mu.failed++; s.mu.failed == 1 {
		close(s.failed)
	}
	if s.mu.first.err == nil || number < s.mu.first.n {
		s.mu.first = failure{number, fmt.Errorf("%s: %w", in.place(n), s.why(err))}
	}
}

// why says what to do about a record that was not acknowledged.
func (s *sender) why(err error) error {
	switch {
	case s.sending.Err() != nil:
		return context.Cause(s.sending)
	case errors.Is(err, kerr.MessageTooLarge):
		return fmt.Errorf("%w; raise --batch-bytes and the topic's max.message.bytes", err)
	case errors.Is(err, kerr.InvalidRecord):
		return fmt.Errorf("%w; a compacted topic takes no records without a key: see --key and --key-delimiter", err)
	case errors.Is(err, kerr.UnknownTopicOrPartition), errors.Is(err, kerr.UnknownTopicID):
		return fmt.Errorf("%w; the topic was deleted meanwhile", err)
	case errors.Is(err, kgo.ErrRecordTimeout):
		return fmt.Errorf("%w: not acknowledged within --timeout; it may be stored all the same", err)
	}
	return unreached(err)
}

// slab is memory for records that are on their way, taken in large pieces.
type slab struct {
	bytes   []byte
	records []kgo.Record
}

func (s *slab) copy(b []byte) []byte {
	const piece = 64 << 10
	if cap(s.bytes)-len(s.bytes) < len(b) {
		s.bytes = make([]byte, 0, max(piece, len(b)))
	}
	from := len(s.bytes)
	s.bytes = append(s.bytes, b...)
	return s.bytes[from:len(s.bytes):len(s.bytes)]
}

func (s *slab) record() *kgo.Record {
	if len(s.records) == 0 {
		s.records = make([]kgo.Record, 256)
	}
	r := &s.records[0]
	s.records = s.records[1:]
	return r
}
