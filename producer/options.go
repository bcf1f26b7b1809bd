package producer

import (
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"time"

	"github.com/seglog/seglog/record"
)

// Options are a producer's settings. The zero value is Kafka 4's defaults; the
// names in parentheses are Kafka's.
type Options struct {
	// Acks is what has to have a batch (acks).
	Acks Acks
	// Idempotence keeps batches from being stored twice or out of order
	// (enable.idempotence). Unless said it is on where it can be: with
	// AcksAll and MaxInFlight of 5 at most.
	Idempotence Idempotence
	// Compression is the codec of batches (compression.type).
	Compression record.Codec
	// BatchBytes is the size at which a batch is full (batch.size), 16 KiB. A
	// larger record is a batch by itself.
	BatchBytes int
	// Linger is how long a batch that is not full waits for more (linger.ms).
	// 0 is 5 ms; NoLinger sends at once.
	Linger time.Duration
	// BufferBytes is the memory of all batches not yet acknowledged
	// (buffer.memory), 32 MiB.
	BufferBytes int64
	// MaxBlock is how long Send waits for metadata and memory together
	// (max.block.ms), 1 min.
	MaxBlock time.Duration
	// MaxRequestBytes is the size of a request and of a record before
	// compression (max.request.size), 1 MiB.
	MaxRequestBytes int
	// MaxInFlight is how many requests a node has at once
	// (max.in.flight.requests.per.connection), 5.
	MaxInFlight int
	// RequestTimeout is how long the sink has for one request
	// (request.timeout.ms), 30 s.
	RequestTimeout time.Duration
	// DeliveryTimeout is how long a record may take from Send on
	// (delivery.timeout.ms), 2 min, at least Linger and RequestTimeout together.
	DeliveryTimeout time.Duration
	// RetryBackoff is how long a batch waits before it is sent again, doubled
	// for each failure up to RetryBackoffMax, with a fifth of jitter
	// (retry.backoff.ms, retry.backoff.max.ms), 100 ms and 1 s.
	RetryBackoff, RetryBackoffMax time.Duration
	// MetadataMaxAge is after how long a topic's partitions are asked for
	// again (metadata.max.age.ms), 5 min.
	MetadataMaxAge time.Duration
	// Partitioner chooses the partition of records that name none
	// (partitioner.class); nil is ByKey.
	Partitioner Partitioner
	// AvailabilityTimeout is for how long a node may have had batches ready
	// and taken none before no more are chosen for it
	// (partitioner.availability.timeout.ms); 0 is for ever.
	AvailabilityTimeout time.Duration
	// Interceptors see each record before it is sent and after it was
	// acknowledged, in this order (interceptor.classes).
	Interceptors []Interceptor
	// Logger is told what went wrong and was dealt with; nil discards.
	Logger *slog.Logger
	// Trace is told of events as they happen.
	Trace Trace
}

// NoLinger is a Linger that waits for nothing.
const NoLinger = time.Nanosecond

// Idempotence is when a producer is idempotent.
type Idempotence int

const (
	IdempotenceWherePossible Idempotence = iota // on unless other settings exclude it
	IdempotenceOn                               // other settings that exclude it are an error
	IdempotenceOff
)

// remembered is how many of a producer's batches a log knows again.
const remembered = 5

func (o Options) withDefaults() (Options, error) {
	def(&o.BatchBytes, 16<<10)
	def(&o.Linger, 5*time.Millisecond)
	def(&o.BufferBytes, 32<<20)
	def(&o.MaxBlock, time.Minute)
	def(&o.MaxRequestBytes, 1<<20)
	def(&o.MaxInFlight, 5)
	def(&o.RequestTimeout, 30*time.Second)
	def(&o.DeliveryTimeout, max(2*time.Minute, o.Linger+o.RequestTimeout))
	def(&o.RetryBackoff, 100*time.Millisecond)
	def(&o.RetryBackoffMax, max(time.Second, o.RetryBackoff))
	def(&o.MetadataMaxAge, 5*time.Minute)
	def(&o.Logger, slog.New(slog.DiscardHandler))
	if o.Partitioner == nil {
		o.Partitioner = ByKey{}
	}
	possible := o.Acks == AcksAll && o.MaxInFlight <= remembered
	switch {
	case o.Acks < AcksAll || o.Acks > AcksNone:
		return o, fmt.Errorf("producer: Acks is %d, want AcksAll, AcksLeader or AcksNone", o.Acks)
	case o.Idempotence < IdempotenceWherePossible || o.Idempotence > IdempotenceOff:
		return o, fmt.Errorf("producer: Idempotence is %d", o.Idempotence)
	case o.Idempotence == IdempotenceOn && !possible:
		return o, fmt.Errorf("producer: IdempotenceOn wants AcksAll and MaxInFlight of at most %d, not %d", remembered, o.MaxInFlight)
	case o.Compression < record.None || o.Compression > record.Zstd:
		return o, fmt.Errorf("producer: Compression is %d, want a codec", o.Compression)
	case o.BatchBytes < 0 || o.BufferBytes < 0 || o.MaxRequestBytes < 0 || o.MaxInFlight < 0:
		return o, fmt.Errorf("producer: a negative BatchBytes, BufferBytes, MaxRequestBytes or MaxInFlight")
	case o.Linger < 0 || o.MaxBlock < 0 || o.RequestTimeout < 0 || o.RetryBackoff < 0 || o.MetadataMaxAge < 0 || o.AvailabilityTimeout < 0:
		return o, fmt.Errorf("producer: a negative duration")
	case o.DeliveryTimeout < o.Linger+o.RequestTimeout:
		return o, fmt.Errorf("producer: DeliveryTimeout is %v, want at least Linger and RequestTimeout together, %v", o.DeliveryTimeout, o.Linger+o.RequestTimeout)
	case o.RetryBackoffMax < o.RetryBackoff:
		return o, fmt.Errorf("producer: RetryBackoffMax is %v, want at least RetryBackoff, %v", o.RetryBackoffMax, o.RetryBackoff)
	case int64(o.BatchBytes) > o.BufferBytes:
		return o, fmt.Errorf("producer: BatchBytes is %d, want at most BufferBytes, %d", o.BatchBytes, o.BufferBytes)
	}
	if o.Idempotence == IdempotenceWherePossible {
		o.Idempotence = IdempotenceOff
		if possible {
			o.Idempotence = IdempotenceOn
		}
	}
	o.BatchBytes = max(o.BatchBytes, record.HeaderSize)
	return o, nil
}

// backoff is how long to wait after the failure before which there were so many
// others in a row (KIP-580).
func (o *Options) backoff(failures int) time.Duration {
	d := float64(o.RetryBackoff) * math.Pow(2, float64(failures))
	d = min(d, float64(o.RetryBackoffMax))
	return time.Duration(d * (0.8 + 0.4*rand.Float64()))
}

// def sets a field that was left zero.
func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
