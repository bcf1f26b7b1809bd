package producer

import "time"

// Trace is told of events by the sender, which waits for it. Any func may be
// nil.
type Trace struct {
	// Sent is called when a batch is handed to the sink.
	Sent func(SentEvent)
	// Retried is called when a batch is put back to be sent again.
	Retried func(RetryEvent)
	// Split is called when a batch was refused as too large.
	Split func(SplitEvent)
	// Done is called when a batch was acknowledged or failed.
	Done func(DoneEvent)
}

// BatchEvent says which batch an event is about.
type BatchEvent struct {
	Topic     string
	Partition int32
	Records   int
	Bytes     int // as sent; 0 if it never was
	Payload   int // before compression
}

// SentEvent is of a batch handed to the sink.
type SentEvent struct {
	BatchEvent
	Node   Node
	Queued time.Duration // since its first record
}

// RetryEvent is of a batch that failed and is sent again.
type RetryEvent struct {
	BatchEvent
	Attempt int
	Err     error
}

// SplitEvent is of a batch that was made into several.
type SplitEvent struct {
	BatchEvent
	Parts int
}

// DoneEvent is of a batch that has come to its end.
type DoneEvent struct {
	BatchEvent
	Took time.Duration // since its first record
	Err  error
}

func (b *batch) event() BatchEvent {
	return BatchEvent{b.q.topic.name, b.q.number, int(b.count), len(b.raw), b.payload}
}

func call[E any](f func(E), e E) {
	if f != nil {
		f(e)
	}
}
