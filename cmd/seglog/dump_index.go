package main

import (
	"math"

	"github.com/seglog/seglog/index"
)

// offsetIndex prints the entries of an .index file.
func (d *dumper) offsetIndex(base int64, data []byte) error {
	n := d.entries(data, index.OffsetEntrySize)
	x := index.NewOffsets(base, data, n)
	sane := x.Check(math.MaxInt64, math.MaxInt64)
	return d.table(n, sane, func(i int) {
		e := x.At(i)
		d.printf("entry %d: offset %d (relative %d) at position %d", i, e.Offset, e.Offset-base, e.Position)
	})
}

// timeIndex prints the entries of a .timeindex file.
func (d *dumper) timeIndex(base int64, data []byte) error {
	n := d.entries(data, index.TimeEntrySize)
	x := index.NewTimes(base, data, n)
	sane := x.Check(math.MaxInt64)
	return d.table(n, sane, func(i int) {
		e := x.At(i)
		d.printf("entry %d: time %s (%d) at offset %d (relative %d)", i, millis(e.Timestamp), e.Timestamp, e.Offset, e.Offset-base)
	})
}

// entries is how many there are before the zeros an index that is not closed
// ends in. The last one may itself end in zero bytes.
func (d *dumper) entries(data []byte, size int) int {
	used := len(data) - trailingZeros(data)
	n := (used + size - 1) / size
	if n*size > len(data) {
		n--
	}
	return n
}

// table prints n entries, the first sane of which are in order, and what is
// behind them.
func (d *dumper) table(n, sane int, entry func(i int)) error {
	for i := range n {
		if err := d.stop(); err != nil {
			return err
		}
		entry(i)
		if i == sane {
			d.bad(", BAD: not above the one before")
			continue
		}
		d.printf("\n")
	}
	return nil
}
