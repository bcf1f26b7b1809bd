package index

import (
	"testing"
)

// FuzzIndex takes random bytes for both index files: what Check believes is
// strictly increasing and in range, what lies behind it changes nothing, and no
// lookup panics, believed or not.
func FuzzIndex(f *testing.F) {
	f.Add([]byte{}, int64(0), int64(100), int64(100))
	f.Add(make([]byte, 24), int64(5), int64(100), int64(100))
	f.Add([]byte("\x00\x00\x00\x05\x00\x00\x00\x10\x00\x00\x00\x09\x00\x00\x00\x20"), int64(7), int64(1<<31), int64(1<<40))
	f.Add([]byte("\x00\x00\x01\x8b\xcf\xe5\x68\x00\x00\x00\x00\x05"), int64(7), int64(1<<31), int64(1<<40))
	f.Fuzz(func(t *testing.T, mem []byte, target, size, next int64) {
		o := NewOffsets(base, mem, len(mem)/OffsetEntrySize)
		n := o.Check(size, next)
		prev := OffsetEntry{Offset: base - 1}
		for i := range n {
			e := o.At(i)
			if e.Offset <= prev.Offset || e.Position <= prev.Position || e.Offset >= next || e.Position >= size {
				t.Fatalf("entry %d, %v, is believed behind %v", i, e, prev)
			}
			prev = e
		}
		o.Floor(target)
		o.Last()
		believed := NewOffsets(base, mem, n)
		if got, slot := believed.Floor(target); slot >= 0 && got.Offset > target || slot+1 < n && believed.At(slot+1).Offset <= target {
			t.Fatalf("Floor(%d) = %v, %d", target, got, slot)
		}
		if again := NewOffsets(base, mem[:n*OffsetEntrySize], n).Check(size, next); again != n {
			t.Fatalf("without what is not believed, %d of %d entries are", again, n)
		}
		believed.Truncate(target)
		if believed.Len() > 0 && believed.Last().Offset >= target {
			t.Fatalf("%v is left of what was cut at %d", believed.Last(), target)
		}

		x := NewTimes(base, mem, len(mem)/TimeEntrySize)
		n = x.Check(next)
		last := TimeEntry{Timestamp: -1, Offset: base}
		for i := range n {
			e := x.At(i)
			if e.Timestamp <= last.Timestamp || e.Offset < last.Offset || e.Offset >= next {
				t.Fatalf("entry %d, %v, is believed behind %v", i, e, last)
			}
			last = e
		}
		x.Floor(target)
		x.Last()
		times := NewTimes(base, mem, n)
		if got, slot := times.Floor(target); slot >= 0 && got.Timestamp > target || slot+1 < n && times.At(slot+1).Timestamp <= target {
			t.Fatalf("Floor(%d) = %v, %d", target, got, slot)
		}
		times.Truncate(target)
		if times.Len() > 0 && times.Last().Offset >= target {
			t.Fatalf("%v is left of what was cut at %d", times.Last(), target)
		}
	})
}
