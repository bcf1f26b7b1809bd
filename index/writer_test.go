package index

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawBatches is the batches of a log, with timestamps out of order.
func drawBatches(t *rapid.T) []Batch {
	var list []Batch
	position, next := int64(0), int64(base)
	for range rapid.IntRange(0, 120).Draw(t, "batches") {
		next += rapid.Int64Range(1, 9).Draw(t, "offsets")
		list = append(list, Batch{Position: position, LastOffset: next - 1,
			MaxTimestamp: rapid.Int64Range(-1, 5000).Draw(t, "ms")})
		position += rapid.Int64Range(61, 6000).Draw(t, "bytes")
	}
	return list
}

func room() (*Offsets, *Times) {
	return NewOffsets(base, make([]byte, 1000*OffsetEntrySize), 0), NewTimes(base, make([]byte, 1000*TimeEntrySize), 0)
}

// kafka is Kafka's rule for one session, as LogSegment has it since 4.0: bytes
// since the last entry are counted, and compared before the present batch is.
func kafka(interval int64, batches []Batch, size func(i int) int64) (*Offsets, *Times) {
	o, x := room()
	since, largest := int64(0), TimeEntry{Timestamp: -1, Offset: base}
	for i, b := range batches {
		if b.MaxTimestamp > largest.Timestamp {
			largest = TimeEntry{b.MaxTimestamp, b.LastOffset}
		}
		if since > interval {
			if o.Append(OffsetEntry{b.LastOffset, b.Position}) != nil || x.Append(largest) != nil {
				panic("no room")
			}
			since = 0
		}
		since += size(i)
	}
	if largest.Timestamp >= 0 {
		if x.Append(largest) != nil {
			panic("no room")
		}
	}
	return o, x
}

// TestWriterIsKafkas: at Kafka's interval, and any wider one, both indexes are
// byte for byte what a broker writes in one session.
func TestWriterIsKafkas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawBatches(t)
		end := int64(1 << 20)
		size := func(i int) int64 {
			if i+1 < len(list) {
				return list[i+1].Position - list[i].Position
			}
			return end
		}
		interval := rapid.SampledFrom([]int64{4096, 5000, 10000}).Draw(t, "interval")
		o, x := room()
		w := NewWriter(interval, o, x, TimeEntry{Timestamp: -1, Offset: base})
		for _, b := range list {
			if err := w.Add(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		wantO, wantX := kafka(interval, list, size)
		if !bytes.Equal(o.Content(), wantO.Content()) || !bytes.Equal(x.Content(), wantX.Content()) {
			t.Fatalf("%d and %d entries, Kafka has %d and %d", o.Len(), x.Len(), wantO.Len(), wantX.Len())
		}
	})
}

// TestWriterResumes: a Writer that continues what another left writes what one
// that never stopped does.
func TestWriterResumes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawBatches(t)
		interval := rapid.SampledFrom([]int64{1, 100, 1024, 4096, 10000}).Draw(t, "interval")
		none := TimeEntry{Timestamp: -1, Offset: base}
		o, x := room()
		whole := NewWriter(interval, o, x, none)
		o2, x2 := room()
		parts := NewWriter(interval, o2, x2, none)
		for i, b := range list {
			if err := whole.Add(b); err != nil {
				t.Fatal(err)
			}
			switch rapid.IntRange(0, 9).Draw(t, "reopen") {
			case 0: // with the largest timestamp noted
				parts = NewWriter(interval, NewOffsets(base, o2.mem, o2.Len()), NewTimes(base, x2.mem, x2.Len()), parts.Max())
			case 1: // or observed anew
				parts = NewWriter(interval, NewOffsets(base, o2.mem, o2.Len()), NewTimes(base, x2.mem, x2.Len()), none)
				for _, seen := range list[:i] {
					parts.Observe(seen)
				}
			}
			o2, x2 = parts.Offsets, parts.Times
			if parts.Wants(b.Position) != (parts.Offsets.Len() < o.Len()) {
				t.Fatal("Wants and Add differ")
			}
			if err := parts.Add(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := whole.Close(); err != nil {
			t.Fatal(err)
		}
		if err := parts.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(o.Content(), o2.Content()) || !bytes.Equal(x.Content(), x2.Content()) {
			t.Fatalf("%d and %d entries, without reopening %d and %d", o2.Len(), x2.Len(), o.Len(), x.Len())
		}
		if o.Check(1<<30, 1<<30) != o.Len() || x.Check(1<<30) != x.Len() {
			t.Fatal("the entries are not in order")
		}
		// Entries are true: a time entry is the largest up to its batch.
		for i := range x.Len() {
			e, largest := x.At(i), int64(-1)
			for _, b := range list {
				if b.LastOffset <= e.Offset {
					largest = max(largest, b.MaxTimestamp)
				}
			}
			if largest != e.Timestamp {
				t.Fatalf("time entry %d says %d up to offset %d, it is %d", i, e.Timestamp, e.Offset, largest)
			}
		}
	})
}

// TestTimeEntriesAreThin: the time index of a gibibyte of small batches, each
// later than the one before, stays within Kafka's 10 MiB however dense the
// offset index is.
func TestTimeEntriesAreThin(t *testing.T) {
	const limit, batch = 10 << 20, 512
	for _, interval := range []int64{1024, 4096} {
		o := NewOffsets(0, make([]byte, limit), 0)
		x := NewTimes(0, make([]byte, limit/TimeEntrySize*TimeEntrySize), 0)
		w := NewWriter(Interval(interval, 1<<30, limit), o, x, TimeEntry{Timestamp: -1})
		for i := range int64((1 << 30) / batch) {
			require.NoError(t, w.Add(Batch{Position: i * batch, LastOffset: i, MaxTimestamp: i}))
		}
		require.NoError(t, w.Close())
		require.LessOrEqual(t, x.Bytes(), int64(limit))
		require.False(t, x.Full())
		require.LessOrEqual(t, x.Len(), 1<<30/timeStride+1)
		require.Greater(t, x.Len(), 1<<30/timeStride/2)
	}
}
