package record

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// Between batches of about one size nothing is allocated.
func TestAllocs(t *testing.T) {
	rs := benchRecords(100)
	for i := range rs {
		rs[i].Headers = []Header{{"trace-id", rs[i].Value[:8]}}
	}
	var b Builder
	var d Decoder
	var batch Batch
	require.Zero(t, testing.AllocsPerRun(50, func() {
		b.Reset(BatchOptions{Producer: &Producer{}})
		for i := range rs {
			if b.Add(&rs[i]) != nil {
				t.Fatal("not added")
			}
		}
		raw, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		if batch, err = Parse(raw); err != nil {
			t.Fatal(err)
		}
	}), "build and parse")
	require.Zero(t, testing.AllocsPerRun(50, func() {
		if err := Validate(batch, &d); err != nil {
			t.Fatal(err)
		}
	}), "read")
	require.Zero(t, testing.AllocsPerRun(50, func() {
		if _, err := Parse(batch.Bytes()[:100]); !errors.Is(err, ErrShort) {
			t.Fatal(err)
		}
	}), "torn")
}
