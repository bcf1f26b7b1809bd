package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// The log has keys records that write each key once, in a shuffled order, then a
// quarter as many that write some again, in another order. Both orders are
// multiplications modulo the number of keys by a number that has no divisor in
// common with it, so what a record's key is follows from its offset, and the
// offsets of a key from the key.

// order is one that can be told both ways.
type order struct{ keys, factor, inverse int64 }

func newOrder(keys, factor int64) order {
	factor %= keys
	for {
		if inverse, ok := invert(factor, keys); ok {
			return order{keys, factor, inverse}
		}
		factor++
	}
}

// invert is the number that factor times it leaves 1 modulo n.
func invert(factor, n int64) (int64, bool) {
	a, b, x, y := factor, n, int64(1), int64(0)
	for b != 0 {
		q := a / b
		a, b, x, y = b, a-q*b, y, x-q*y
	}
	return (x%n + n) % n, a == 1
}

func (o order) key(number int64) int64 { return mulMod(number, o.factor, o.keys) }
func (o order) number(key int64) int64 { return mulMod(key, o.inverse, o.keys) }

func mulMod(a, b, n int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int64(bits.Rem64(hi, lo, uint64(n)))
}

func (c config) orders() (first, second order) {
	return newOrder(c.keys, 15_485_863), newOrder(c.keys, 32_452_843)
}

// keyAt is the key of the record at an offset.
func (c config) keyAt(first, second order, offset int64) int64 {
	if offset < c.keys {
		return first.key(offset)
	}
	return second.key(offset - c.keys)
}

// newest is the offset of a key's newest record.
func (c config) newest(first, second order, key int64) int64 {
	if n := second.number(key); n < c.keys/4 {
		return c.keys + n
	}
	return first.number(key)
}

// write appends all records, and then one key of its own until they are all in
// sealed segments.
func (c config) write(ctx context.Context, l *log.Log) error {
	first, second := c.orders()
	records, memory := make([]record.Record, c.batch), make([]byte, 0, 16*c.batch)
	total := c.keys + c.keys/4
	for offset := int64(0); offset < total; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n := int(min(int64(c.batch), total-offset))
		memory = memory[:0]
		for i := range n {
			memory = appendRecord(memory, &records[i], c.keyAt(first, second, offset), offset)
			offset++
		}
		if _, err := l.Append(records[:n]...); err != nil {
			return err
		}
	}
	for sealed := len(l.Segments()); len(l.Segments()) == sealed; {
		if _, err := l.Append(record.Record{Key: []byte("end"), Value: make([]byte, 4<<10)}); err != nil {
			return err
		}
	}
	return nil
}

// check holds what is left against what was written.
func (c config) check(ctx context.Context, l *log.Log) error {
	first, second := c.orders()
	left := int64(0)
	for r, err := range l.From(l.First()) {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case r.Offset >= c.keys+c.keys/4:
			continue // what sealed the last segment
		}
		key, written := int64(binary.BigEndian.Uint64(r.Key)), int64(binary.BigEndian.Uint64(r.Value))
		if key != c.keyAt(first, second, r.Offset) || written != r.Offset {
			return fmt.Errorf("offset %d has key %d written at %d", r.Offset, key, written)
		}
		if newest := c.newest(first, second, key); newest != r.Offset {
			return fmt.Errorf("offset %d of key %d is left, the newest is at %d", r.Offset, key, newest)
		}
		left++
	}
	if left != c.keys {
		return fmt.Errorf("%d keys are left of %d", left, c.keys)
	}
	return nil
}
