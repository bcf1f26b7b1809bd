package record

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func isSentinel(err error) bool {
	for _, s := range []error{ErrShort, ErrCorrupt, ErrUnsupportedMagic, ErrTooLarge, ErrInvalid} {
		if errors.Is(err, s) {
			return true
		}
	}
	return false
}

// FuzzParse: what is accepted stays accepted, the same, whatever follows it;
// and if its records are well formed, they encode to the same bytes again.
// The CRC is made right first, or nothing would get past it.
func FuzzParse(f *testing.F) {
	for _, g := range goldens {
		f.Add(unhex(g.hex), []byte{0})
	}
	f.Add(make([]byte, 100), []byte(nil))
	f.Fuzz(func(t *testing.T, raw, junk []byte) {
		raw = bytes.Clone(raw)
		if h, err := ParseHeader(raw); err == nil && h.Size <= len(raw) {
			setMaxTimestamp(raw[:h.Size], h.MaxTimestamp)
		}
		b, err := Parse(raw)
		if err != nil {
			require.True(t, isSentinel(err), "%v", err)
			if !errors.Is(err, ErrShort) { // no more bytes can help
				_, err := Parse(append(raw, junk...))
				require.Error(t, err)
				require.NotErrorIs(t, err, ErrShort)
			}
			return
		}
		require.Len(t, b.Bytes(), b.Size)
		again, err := Parse(append(bytes.Clone(b.Bytes()), junk...))
		require.NoError(t, err)
		require.Equal(t, b, again)
		header := bytes.Clone(b.Bytes())
		b.put(header)
		require.Equal(t, b.Bytes(), header, "header encoded again")

		d := Decoder{MaxBytes: 1 << 20}
		err = Validate(b, &d)
		require.Equal(t, fmt.Sprint(validateByNext(b, &Decoder{MaxBytes: 1 << 20})), fmt.Sprint(err))
		if err != nil {
			require.True(t, isSentinel(err), "%v", err)
			return
		}
		checkReencodes(t, b, &d)
	})
}

// checkReencodes encodes the records of b, which is valid, and compares with
// the payload they came from; they differ only by integers that were longer
// than they need be and by attributes that mean nothing.
func checkReencodes(t *testing.T, b Batch, d *Decoder) {
	payload, err := d.Payload(b)
	require.NoError(t, err)
	payload = bytes.Clone(payload)
	var out []byte
	var count int32
	exact := true
	require.NoError(t, d.Reset(b))
	for {
		var r Record
		start := d.pos
		ok, err := d.Next(&r)
		require.NoError(t, err)
		if !ok {
			break
		}
		count++
		require.GreaterOrEqual(t, r.Offset, b.BaseOffset)
		require.LessOrEqual(t, r.Offset, b.LastOffset())
		e := encoding{timeDelta: timeDelta(d, start), offsetDelta: int32(r.Offset - b.BaseOffset)}
		size, err := e.measure(&r, MaxBatchSize)
		require.NoError(t, err)
		require.LessOrEqual(t, size, d.pos-start)
		n := len(out)
		out = append(out, make([]byte, size)...)
		e.put(out[n:], &r)
		_, i := varint(payload, start)
		exact = exact && size == d.pos-start && payload[i] == 0
	}
	require.Equal(t, b.Count, count)
	if exact {
		require.True(t, bytes.Equal(payload, out), "%x encoded again as %x", payload, out)
	}
	// Longer or shorter, they are the same records.
	h := b.BatchHeader
	h.Attributes &^= attrCodec
	same, err := Parse(assemble(h, out))
	require.NoError(t, err)
	require.Equal(t, readAllRecords(t, b), readAllRecords(t, same))
}

// timeDelta is the one of the record that starts at start, which under
// LogAppendTime a Record does not tell.
func timeDelta(d *Decoder, start int) int64 {
	_, i := varint(d.payload, start)
	v, _ := varlong(d.payload, i+1)
	return v
}

// FuzzBuild: what is built parses, validates and holds the records that were
// added.
func FuzzBuild(f *testing.F) {
	for c := range int8(5) {
		f.Add(c, int64(1700000000000), int64(-5), []byte("key"), []byte("value"), "header", []byte("x"), int64(7), uint8(3))
	}
	f.Add(int8(0), int64(-1), int64(0), []byte(nil), []byte{}, "", []byte(nil), int64(0), uint8(200))
	f.Fuzz(func(t *testing.T, codec int8, ms, step int64, key, value []byte, hkey string, hvalue []byte, base int64, n uint8) {
		var b Builder
		b.Reset(BatchOptions{BaseOffset: base, Codec: Codec(codec)})
		var want []Record
		for i := range int64(n) {
			r := Record{Offset: base + i, Time: fromMillis(ms + i*step), Key: key, Value: value}
			if i%2 == 1 {
				r = Record{Offset: base + i, Time: r.Time, Key: value, Headers: []Header{{hkey, hvalue}, {hkey, nil}}}
			}
			if err := b.Add(&r); err != nil {
				require.ErrorIs(t, err, ErrInvalid)
				continue
			}
			r.Offset = base + int64(len(want))
			want = append(want, r)
		}
		raw, err := b.Build()
		if err != nil {
			require.ErrorIs(t, err, ErrInvalid)
			return
		}
		batch, err := Parse(raw)
		require.NoError(t, err)
		require.NoError(t, Validate(batch, new(Decoder)))
		require.Equal(t, want, readAllRecords(t, batch))
	})
}

// FuzzDecompress: within the limit or an error, for any stream, and the same
// into a reused buffer.
func FuzzDecompress(f *testing.F) {
	for c := None; c.valid(); c++ {
		if c != None {
			f.Add(int8(c), mustCompress(f, c, []byte("seglog seglog seglog")))
		}
	}
	for _, g := range goldens {
		if b, err := Parse(unhex(g.hex)); err == nil && b.Codec() != None {
			f.Add(int8(b.Codec()), b.stored())
		}
	}
	reused := make([]byte, 0, 100)
	f.Fuzz(func(t *testing.T, codec int8, src []byte) {
		const limit = 1 << 16
		out, err := decompress(Codec(codec), nil, src, limit)
		again, againErr := decompress(Codec(codec), reused, src, limit)
		require.Equal(t, err == nil, againErr == nil)
		if err != nil {
			require.True(t, errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTooLarge), "%v", err)
			return
		}
		require.LessOrEqual(t, len(out), limit)
		require.True(t, bytes.Equal(out, again))
	})
}
