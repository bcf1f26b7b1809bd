package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"
)

// client is a client library or a tool.
type client interface {
	// prepare installs what it needs. An error says why it cannot be run here.
	prepare(ctx context.Context) error
	// produce produces the records of numbers in [from, to), at most inFlight
	// of them unacknowledged, and tells each number that was acknowledged. It
	// retries for as long as ctx lasts.
	produce(ctx context.Context, addr string, p produce, acked func(n int)) error
	// consume reads all partitions of a topic by assignment until ctx ends,
	// which is no error.
	consume(ctx context.Context, addr string, c consume, got func(record)) error
	// member reads a topic as a member of a group until ctx ends. Then it
	// commits what it got, leaves, and returns nil.
	member(ctx context.Context, addr, topic, group string, got func(record)) error
	admin
}

// admin is the part of a client that administers topics.
type admin interface {
	create(ctx context.Context, addr, topic string, partitions int, key, value string) error
	describe(ctx context.Context, addr, topic string) (partitions int, err error)
	configs(ctx context.Context, addr, topic string) (map[string]string, error)
	alter(ctx context.Context, addr, topic, key, value string) error
	remove(ctx context.Context, addr, topic string) error
}

type produce struct {
	topic    string
	acks     string // 0, 1, all, idempotent
	codec    string // none, gzip, snappy, lz4, zstd
	from, to int
	live     bool // what is acknowledged is to be told while it goes on
}

type consume struct {
	topic      string
	partitions int
	since      int64 // milliseconds, or first
}

// first is the time of whatever is the first record.
const first = -2

// inFlight is how many records a client has unacknowledged at most.
const inFlight = 100

type record struct {
	partition int32
	offset    int64
	number    int
}

// errUnable is what a client cannot do.
var errUnable = errors.New("n/a")

// noAdmin is a client that administers nothing.
type noAdmin struct{}

func (noAdmin) create(context.Context, string, string, int, string, string) error { return errUnable }
func (noAdmin) describe(context.Context, string, string) (int, error)             { return 0, errUnable }
func (noAdmin) configs(context.Context, string, string) (map[string]string, error) {
	return nil, errUnable
}
func (noAdmin) alter(context.Context, string, string, string, string) error { return errUnable }
func (noAdmin) remove(context.Context, string, string) error                { return errUnable }

// key and value are those of the record of a number: a value compresses well,
// as some clients send a batch as it is where a codec gains nothing.
func key(n int) string   { return strconv.Itoa(n) }
func value(n int) string { return fmt.Sprintf("%0100d", n) }

func number(value []byte) int {
	n, err := strconv.Atoi(string(value))
	if err != nil {
		return -1
	}
	return n
}

// is says whether a record is that of a number, as this client produces it.
func is(c client, r *kgo.Record, n int) bool {
	if _, ok := c.(verifiable); ok {
		return r.Key == nil && string(r.Value) == key(n)
	}
	return string(r.Key) == key(n) && string(r.Value) == value(n)
}

// chunks calls do with [from, to) in parts of inFlight.
func (p produce) chunks(do func(from, to int) error) error {
	for from := p.from; from < p.to; from += inFlight {
		if err := do(from, min(from+inFlight, p.to)); err != nil {
			return err
		}
	}
	return nil
}
