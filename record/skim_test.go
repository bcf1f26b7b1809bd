package record

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// validateByNext is Validate without skim.
func validateByNext(b Batch, d *Decoder) error {
	if err := d.Reset(b); err != nil {
		return err
	}
	latest := int64(noTimestamp)
	for r := (Record{}); ; {
		ok, err := d.Next(&r)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		latest = max(latest, d.millis)
		if b.Control() {
			if err := validateControl(&r); err != nil {
				return err
			}
		}
	}
	if b.Count > 0 && b.TimestampType() == CreateTime && latest != b.MaxTimestamp {
		return corruptf("max timestamp %d, largest of the records %d", b.MaxTimestamp, latest)
	}
	return nil
}

// unusual makes records of which some are of the usual shape and some are at
// or past each of its edges.
func unusual(random *rand.Rand, n int, sizes []int) []Record {
	bytesOf := func() []byte {
		n := sizes[random.IntN(len(sizes))]
		if random.IntN(6) == 0 {
			return nil
		}
		return bytes.Repeat([]byte{byte(random.Uint32())}, n)
	}
	list := make([]Record, n)
	for i := range list {
		steps := []int64{0, 0, 0, 1, 63, 64, -64, -65, 8191, 8192, -8193, 1 << 40}
		list[i] = Record{Key: bytesOf(), Value: bytesOf(), Time: time.UnixMilli(1 << 42).Add(time.Duration(steps[random.IntN(len(steps))]) * time.Millisecond)}
		if random.IntN(5) == 0 {
			list[i].Headers = []Header{{Key: "h", Value: bytesOf()}}
		}
	}
	return list
}

// TestSkim: what skim passes over is what Next would have read, and what it
// does not pass over is refused, or not, as Next does: of batches of all shapes,
// whole and with each of their bits flipped.
func TestSkim(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			var builder Builder
			o := BatchOptions{BaseOffset: int64(seed) * 1000}
			if seed%3 == 1 {
				o.TimestampType, o.AppendTime = LogAppendTime, time.UnixMilli(77)
			}
			builder.Reset(o)
			list := unusual(random, 1+random.IntN(8), []int{0, 1, 2, 3, 15, 16, 30})
			if seed%10 == 0 { // longer, and not each bit
				list = unusual(random, 40, []int{0, 30, 55, 61, 62, 63, 64, 65, 100, 127, 4000, 8100, 8191, 8192})
			}
			for i := range list {
				require.NoError(t, builder.Add(&list[i]))
			}
			raw, err := builder.Build()
			require.NoError(t, err)
			raw = bytes.Clone(raw)
			sameVerdict(t, raw)
			b, err := Parse(raw)
			require.NoError(t, err)
			require.NoError(t, Validate(b, new(Decoder)))
			for i := range min(8*(len(raw)-posLastOffsetDelta), 8*1000) {
				at, mask := posLastOffsetDelta+i/8, byte(1)<<(i%8)
				raw[at] ^= mask
				sameVerdict(t, raw)
				raw[at] ^= mask
			}
		})
	}
}

func sameVerdict(t *testing.T, raw []byte) {
	t.Helper()
	b, err := Verified(raw)
	if err != nil {
		return // the header is refused
	}
	want, got := validateByNext(b, new(Decoder)), Validate(b, new(Decoder))
	require.Equal(t, fmt.Sprint(want), fmt.Sprint(got))
}

// TestSkimsTheUsual: or it would be of no use.
func TestSkimsTheUsual(t *testing.T) {
	for _, size := range []int{0, 10, 100, 1000, 7900} {
		for _, key := range [][]byte{nil, {}, []byte("key"), bytes.Repeat([]byte("k"), 200)} {
			var builder Builder
			builder.Reset(BatchOptions{})
			for i := range 300 {
				require.NoError(t, builder.Add(&Record{Key: key, Value: make([]byte, size), Time: time.UnixMilli(1<<41 + int64(i))}))
			}
			raw, err := builder.Build()
			require.NoError(t, err)
			b, err := Parse(raw)
			require.NoError(t, err)
			var d Decoder
			require.NoError(t, d.Reset(b))
			latest := d.skim(math.MinInt64)
			require.LessOrEqual(t, d.left, int32(2), "records of %d bytes left of 300", size)
			require.EqualValues(t, 1<<41+299-int64(d.left), latest)
		}
	}
}

// TestSkimIsNotMisled: by records that are made so that what a careless reading
// of them says fits together.
func TestSkimIsNotMisled(t *testing.T) {
	// Two bytes of a length that goes on, then deltas and a null key.
	longSize := append([]byte{0x80, 0x80, 0x7f, 0, 0, 1}, make([]byte, 10_000)...)
	putVarint(longSize, isLong+6, 8185)
	// A value that is said to end where the record does, behind the payload.
	const missing = 64
	past := append([]byte{0, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 40)...)
	body := putVarint(past, 0, 4+2+40+missing+1)
	putVarint(past, body+4, 40+missing)
	for name, payload := range map[string][]byte{"a long size": longSize, "past the end": past} {
		t.Run(name, func(t *testing.T) {
			h := BatchHeader{Size: HeaderSize + len(payload), Count: 1, LeaderEpoch: -1}
			raw := append(make([]byte, HeaderSize), payload...)
			h.put(raw)
			sameVerdict(t, raw)
			b, err := Verified(raw)
			require.NoError(t, err)
			require.ErrorIs(t, Validate(b, new(Decoder)), ErrCorrupt)
		})
	}
}
