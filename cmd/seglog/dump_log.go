package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// log prints the batches of a log file. Behind a bad one it goes on at the next
// whole one, as recovery would.
func (d *dumper) log(data []byte) error {
	end := int64(len(data) - trailingZeros(data))
	next := int64(0)
	var decoder record.Decoder
	for pos := int64(0); pos < int64(len(data)); {
		if err := d.stop(); err != nil {
			return err
		}
		if pos >= end {
			d.printf("position %d: zeros to the end of the file, %s\n", pos, formatBytes(int64(len(data))-pos))
			return nil
		}
		b, err := record.Parse(data[pos:])
		if err == nil && b.BaseOffset < next {
			err = fmt.Errorf("%w: offset %d where at least %d belongs", record.ErrCorrupt, b.BaseOffset, next)
		}
		if err == nil {
			d.printf("position %d: %s, ok\n", pos, describeBatch(&b.BatchHeader))
			if d.records {
				d.batchRecords(b, &decoder)
			}
			next, pos = b.NextOffset(), pos+int64(b.Size)
			continue
		}
		what := "BAD"
		if h, headerErr := record.ParseHeader(data[pos:]); headerErr == nil {
			what = describeBatch(&h) + ", BAD"
		}
		d.bad("position %d: %s: %v", pos, what, err)
		if errors.Is(err, record.ErrUnsupportedMagic) {
			return nil // not damage, so there is nothing to find behind it
		}
		after, at, ok := segment.Resync(data, pos, next)
		if !ok {
			d.printf("position %d: nothing readable to the end of the file, %s\n", pos, formatBytes(int64(len(data))-pos))
			return nil
		}
		d.printf("position %d: passed over %s, readable again at position %d\n", pos, formatBytes(at-pos), at)
		next, pos = after.BaseOffset, at
	}
	return nil
}

// describeBatch is a header in words; what most batches do not have is left out.
func describeBatch(h *record.BatchHeader) string {
	var s strings.Builder
	fmt.Fprintf(&s, "offsets %d to %d, %s, codec %v, ", h.BaseOffset, h.LastOffset(), plural(int64(h.Count), "record"), h.Codec())
	if h.MaxTimestamp < 0 {
		s.WriteString("no times")
	} else {
		fmt.Fprintf(&s, "%v up to %s", h.TimestampType(), millis(h.MaxTimestamp))
	}
	if h.LeaderEpoch >= 0 {
		fmt.Fprintf(&s, ", leader epoch %d", h.LeaderEpoch)
	}
	if h.ProducerID >= 0 {
		fmt.Fprintf(&s, ", producer %d epoch %d", h.ProducerID, h.ProducerEpoch)
	}
	if h.BaseSequence >= 0 {
		fmt.Fprintf(&s, " sequence %d to %d", h.BaseSequence, h.LastSequence())
	}
	if h.Transactional() {
		s.WriteString(", transactional")
	}
	if h.Control() {
		s.WriteString(", control")
	}
	if ms, ok := h.DeleteHorizon(); ok {
		fmt.Fprintf(&s, ", delete horizon %s", millis(ms))
	}
	fmt.Fprintf(&s, ", crc %08x, %s", h.CRC, formatBytes(int64(h.Size)))
	return s.String()
}

// millis writes a timestamp of the format for people.
func millis(ms int64) string { return time.UnixMilli(ms).UTC().Format(timeLayout) }
