package main

import (
	"fmt"
	"io"
	"time"

	"github.com/seglog/seglog/log"
)

func explainTime(w io.Writer, l *log.Log, t time.Time) error {
	e, err := l.ExplainAt(t)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "looking for the first record at or after %s (%d) in %s, offsets %s\n\n",
		formatTime(&t), t.UnixMilli(), plural(int64(e.Segments), "segment"), offsetRange(l.First(), l.End()))
	fmt.Fprintf(w, "1. segments: from the oldest on, pass those whose largest time is earlier\n")
	for _, s := range e.Skipped {
		largest := "no times"
		if !s.MaxTime.IsZero() {
			largest = "largest " + formatTime(&s.MaxTime)
		}
		fmt.Fprintf(w, "     passed %d: %s\n", s.Base, largest)
	}
	if len(e.Skipped) == e.Segments {
		fmt.Fprintf(w, "   every segment is earlier: the answer is the end, offset %d\n", e.Offset)
		return nil
	}
	fmt.Fprintf(w, "   the segment based at %d: largest %s\n", e.Segment.Base, formatTime(&e.Segment.MaxTime))

	k := e.Lookup
	fmt.Fprintf(w, "2. time index: search %s for the greatest time at or below\n", plural(int64(k.Entries), "entry"))
	start := max(e.Segment.Base, l.First())
	if k.Slot < 0 {
		fmt.Fprintf(w, "   none: begin at offset %d\n", start)
	} else {
		start = k.Entry.Offset
		at := time.UnixMilli(k.Entry.Timestamp)
		fmt.Fprintf(w, "   entry %d: %s, no record before the batch of offset %d is as late\n", k.Slot, formatTime(&at), start)
	}
	explainLookup(w, 3, e.Segment.Base, start, k.Offset)
	fmt.Fprintf(w, "5. scan for the time: from position %d, passed %s, %s\n", k.Position-k.Bytes, plural(int64(k.Batches), "batch"), formatBytes(k.Bytes))
	if !e.Found {
		fmt.Fprintf(w, "   no record is as late: the answer is the end, offset %d\n", e.Offset)
		return nil
	}
	fmt.Fprintf(w, "   in the batch at position %d, offset %d is the first as late\n", k.Position, e.Offset)
	return nil
}
