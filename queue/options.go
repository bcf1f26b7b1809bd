package queue

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// Options are a queue's settings. The zero value works.
type Options struct {
	// Durability is what Push and Ack wait for.
	Durability Durability
	// Visibility is how long a message is out before it is delivered again. 0
	// is 30 s.
	Visibility time.Duration
	// MaxDeliveries is how often a message is delivered before it is given up
	// and moved to DeadLetters. 0 is without end.
	MaxDeliveries int
	// Order is what is promised of it.
	Order Order
	// MaxBytes and MaxAge limit what is kept, 0 is without. MaxBytes is of the
	// files, counting what is consumed until its segment is; whose time in the
	// queue passes MaxAge is dropped.
	MaxBytes int64
	MaxAge   time.Duration
	// Full is what Push does at MaxBytes.
	Full Full
	// SegmentBytes is the unit in which space comes back. 0 is 64 MiB, or a
	// sixteenth of MaxBytes if that is less.
	SegmentBytes int64
	// Compression is the codec of messages pushed together.
	Compression record.Codec
	// Logger is told what went wrong in the background; nil discards.
	Logger *slog.Logger
	// Env is the world around the queue: the system's unless set.
	Env Env
}

// Env is what a queue takes from the system.
type Env struct {
	FS  vfs.FS           // nil: the operating system's
	Now func() time.Time // nil: time.Now
}

// Durability is what survives once Push or Ack has returned.
type Durability int

const (
	Appended Durability = iota // the end of the process, kill -9 included
	Durable                    // a loss of power; calls at the same time share a sync
)

// Order is in which order messages are delivered.
type Order int

const (
	ByOffset Order = iota // as pushed; what is delivered again may come later than others
	ByKey                 // as pushed for each key, strictly; others are not held up
)

// Full is what Push does when the queue is full.
type Full int

const (
	Refuse     Full = iota // ErrFull
	Block                  // wait for room or the end of ctx
	DropOldest             // drop the oldest segment: see Stats.Dropped
)

const (
	defaultVisibility   = 30 * time.Second
	defaultSegmentBytes = 64 << 20
	segmentsWhenFull    = 16
	minSegmentBytes     = 4 << 10
)

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.Durability < Appended || o.Durability > Durable:
		return o, fmt.Errorf("queue: Durability is %d, want Appended or Durable", o.Durability)
	case o.Order < ByOffset || o.Order > ByKey:
		return o, fmt.Errorf("queue: Order is %d, want ByOffset or ByKey", o.Order)
	case o.Full < Refuse || o.Full > DropOldest:
		return o, fmt.Errorf("queue: Full is %d, want Refuse, Block or DropOldest", o.Full)
	case o.Visibility < 0 || o.MaxAge < 0 || o.MaxBytes < 0 || o.MaxDeliveries < 0 || o.SegmentBytes < 0:
		return o, fmt.Errorf("queue: a negative Visibility, MaxAge, MaxBytes, MaxDeliveries or SegmentBytes")
	case o.MaxBytes > 0 && o.MaxBytes < segmentsWhenFull*minSegmentBytes:
		return o, fmt.Errorf("queue: MaxBytes is %d, want at least %d", o.MaxBytes, segmentsWhenFull*minSegmentBytes)
	}
	if o.Visibility == 0 {
		o.Visibility = defaultVisibility
	}
	if o.SegmentBytes == 0 {
		o.SegmentBytes = defaultSegmentBytes
		if o.MaxBytes > 0 {
			o.SegmentBytes = min(o.SegmentBytes, o.MaxBytes/segmentsWhenFull)
		}
	}
	if o.MaxBytes > 0 && o.SegmentBytes > o.MaxBytes/2 {
		return o, fmt.Errorf("queue: SegmentBytes is %d, want at most half of MaxBytes, %d", o.SegmentBytes, o.MaxBytes)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}
