package said

import (
	"bytes"
	"testing"
)

// TestValue: a value says which record it is of, at every size, and a changed
// one is noticed.
func TestValue(t *testing.T) {
	for size := range 200 {
		id := ID{Writer: 3, Batch: 7 * PerBoot, Index: size % 4, Count: 4}
		v := Value(id, size)
		if len(v) < size {
			t.Fatalf("%d bytes, want %d at least", len(v), size)
		}
		got, err := Parse(v)
		if err != nil || got != id {
			t.Fatalf("Parse = %v, %v, want %v", got, err, id)
		}
		for i := range v {
			bad := bytes.Clone(v)
			bad[i] ^= 0x10
			if got, err := Parse(bad); err == nil && got == id {
				t.Fatalf("byte %d of %d changed, and it is still %v", i, len(v), got)
			}
		}
	}
	for _, v := range []string{"", "1 2 3", "x 1 2 3 ", "1 2 3 4"} {
		if id, err := Parse([]byte(v)); err == nil {
			t.Errorf("%q is of record %v", v, id)
		}
	}
}

func TestDigest(t *testing.T) {
	a, b := NewDigest(), NewDigest()
	a.Add(1, ID{Count: 1})
	b.Add(2, ID{Count: 1})
	if a.Sum() == b.Sum() {
		t.Error("the offset is not in the digest")
	}
}
