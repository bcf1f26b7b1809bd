package main

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"time"

	"github.com/seglog/seglog/internal/coordinator"
	"github.com/seglog/seglog/internal/inorder"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// log prints the batches of a log file. Behind a bad one it goes on at the next
// whole one, as recovery would.
//
// Batches are found and verified here, printed into memory by other goroutines
// and written here, in order.
func (d *dumper) log(data []byte) error {
	workers := make([]linePrinter, min(runtime.GOMAXPROCS(0), maxPrinters))
	for i := range workers {
		workers[i] = linePrinter{records: d.records, decode: d.decode, red: d.red}
	}
	lines := inorder.Start(len(workers), func(n int, j *dumpJob) error { return workers[n].print(j) }, func(j *dumpJob) error {
		d.faults += j.faults
		_, err := d.out.Write(j.text)
		return err
	})
	defer lines.Stop()
	end := int64(len(data) - trailingZeros(data))
	next := int64(0)
	for pos := int64(0); pos < int64(len(data)); {
		job, err := lines.Next()
		if err == nil {
			err = d.stop()
		}
		if err != nil {
			return err
		}
		pos, next, err = job.fill(data, pos, end, next)
		lines.Go()
		if err == nil && pos < end {
			continue
		}
		if err := lines.Drain(); err != nil {
			return err
		}
		if pos >= end {
			if rest := int64(len(data)) - pos; rest > 0 {
				d.printf("position %d: zeros to the end of the file, %s\n", pos, formatBytes(rest))
			}
			return nil
		}
		what := "BAD"
		if h, headerErr := record.ParseHeader(data[pos:]); headerErr == nil {
			what = string(appendBatch(nil, &h, &clock{})) + ", BAD"
		}
		d.bad("position %d: %s: %v", pos, what, err)
		if errors.Is(err, record.ErrUnsupportedMagic) {
			return nil // not damage, so there is nothing to find behind it
		}
		after, at, ok := segment.Resync(data, pos, next, math.MaxInt64)
		if !ok {
			d.printf("position %d: nothing readable to the end of the file, %s\n", pos, formatBytes(int64(len(data))-pos))
			return nil
		}
		d.printf("position %d: passed over %s, readable again at position %d\n", pos, formatBytes(at-pos), at)
		next, pos = after.BaseOffset, at
	}
	return nil
}

const (
	maxPrinters = 4
	jobBytes    = 128 << 10 // of a log, about, are printed by one goroutine at a time
)

// dumpJob is some batches to be printed.
type dumpJob struct {
	batches []dumpBatch
	text    []byte
	faults  int
}

type dumpBatch struct {
	record.Batch
	position int64
}

// fill takes whole batches in order from pos on, and returns where it came to
// and why it went no further, if that is a bad batch.
func (j *dumpJob) fill(data []byte, pos, end, next int64) (int64, int64, error) {
	j.batches, j.text, j.faults = j.batches[:0], j.text[:0], 0
	for most := pos + jobBytes; pos < end && pos < most; {
		b, err := record.Parse(data[pos:])
		if err == nil && b.BaseOffset < next {
			err = fmt.Errorf("%w: offset %d where at least %d belongs", record.ErrCorrupt, b.BaseOffset, next)
		}
		if err != nil {
			return pos, next, err
		}
		j.batches = append(j.batches, dumpBatch{b, pos})
		next, pos = b.NextOffset(), pos+int64(b.Size)
	}
	return pos, next, nil
}

// linePrinter is what one goroutine prints with.
type linePrinter struct {
	records bool
	decode  coordinator.Decode
	red     func(string) string
	decoder record.Decoder
	clock   clock
	offset  counter
}

// print prints the batches of a job into its text.
func (p *linePrinter) print(j *dumpJob) (err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	for i := range j.batches {
		b := &j.batches[i]
		j.text = strconv.AppendInt(append(j.text, "position "...), b.position, 10)
		j.text = append(appendBatch(append(j.text, ": "...), &b.BatchHeader, &p.clock), ", ok\n"...)
		if p.records {
			p.batchRecords(j, b.Batch)
		}
	}
	return nil
}

// appendBatch appends a header in words; what most batches do not have is left
// out.
func appendBatch(s []byte, h *record.BatchHeader, c *clock) []byte {
	s = strconv.AppendInt(append(s, "offsets "...), h.BaseOffset, 10)
	s = strconv.AppendInt(append(s, " to "...), h.LastOffset(), 10)
	s = appendPlural(append(s, ", "...), int64(h.Count), "record")
	s = append(append(append(s, ", codec "...), h.Codec().String()...), ", "...)
	if h.MaxTimestamp < 0 {
		s = append(s, "no times"...)
	} else {
		s = append(append(s, h.TimestampType().String()...), " up to "...)
		s = c.append(s, time.UnixMilli(h.MaxTimestamp))
	}
	if h.LeaderEpoch >= 0 {
		s = strconv.AppendInt(append(s, ", leader epoch "...), int64(h.LeaderEpoch), 10)
	}
	if h.ProducerID >= 0 {
		s = strconv.AppendInt(append(s, ", producer "...), h.ProducerID, 10)
		s = strconv.AppendInt(append(s, " epoch "...), int64(h.ProducerEpoch), 10)
	}
	if h.BaseSequence >= 0 {
		s = strconv.AppendInt(append(s, " sequence "...), int64(h.BaseSequence), 10)
		s = strconv.AppendInt(append(s, " to "...), int64(h.LastSequence()), 10)
	}
	if h.Transactional() {
		s = append(s, ", transactional"...)
	}
	if h.Control() {
		s = append(s, ", control"...)
	}
	if ms, ok := h.DeleteHorizon(); ok {
		s = append(append(s, ", delete horizon "...), millis(ms)...)
	}
	s = appendHex8(append(s, ", crc "...), h.CRC)
	return appendPlural(append(s, ", "...), int64(h.Size), "byte")
}

// millis writes a timestamp of the format for people.
func millis(ms int64) string { return time.UnixMilli(ms).UTC().Format(timeLayout) }
