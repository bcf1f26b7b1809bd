package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"
)

func mustCompress(t testing.TB, c Codec, src []byte) []byte {
	t.Helper()
	out, err := compress(c, nil, src)
	require.NoError(t, err)
	return out
}

// Streams in a row are one stream, and both framings of Snappy are read.
func TestFramings(t *testing.T) {
	a, b := bytes.Repeat([]byte("seglog "), 20_000), benchRecords(1)[0].Value
	both := append(slices.Clone(a), b...)
	for c := Gzip; c.valid(); c++ {
		two := append(mustCompress(t, c, a), mustCompress(t, c, b)...)
		for limit := len(both); limit >= len(both)-1; limit-- {
			got, err := decompress(c, nil, two, limit)
			if limit == len(both) {
				require.NoError(t, err, c)
				require.Equal(t, both, got, c)
			} else {
				require.ErrorIs(t, err, ErrTooLarge, c)
			}
		}
	}
	got, err := decompress(Snappy, nil, s2.EncodeSnappy(nil, a), len(a))
	require.NoError(t, err)
	require.Equal(t, a, got)
	versions := mustCompress(t, Snappy, a)
	versions[11], versions[15] = 2, 3 // not looked at, as Java's reader does not
	got, err = decompress(Snappy, nil, versions, len(a))
	require.NoError(t, err)
	require.Equal(t, a, got)
	_, err = decompress(Snappy, nil, s2.EncodeSnappy(nil, a), len(a)-1)
	require.ErrorIs(t, err, ErrTooLarge)
}

// The frame header that Java writes: 64 KiB independent blocks, no checksums.
func TestLZ4AsJavaWrites(t *testing.T) {
	out := mustCompress(t, LZ4, make([]byte, 200_000))
	require.Equal(t, unhex("04224d18604082"), out[:7])
	require.Equal(t, unhex("00000000"), out[len(out)-4:])
}

// Snappy blocks hold 32 KiB, in the frame that Java writes.
func TestXerialAsJavaWrites(t *testing.T) {
	out := mustCompress(t, Snappy, make([]byte, 70_000))
	require.Equal(t, unhex("82534e41505059000000000100000001"), out[:16])
	var sizes []int
	for out = out[16:]; len(out) > 0; {
		n := binary.BigEndian.Uint32(out)
		size, err := s2.DecodedLen(out[4 : 4+n])
		require.NoError(t, err)
		sizes = append(sizes, size)
		out = out[4+n:]
	}
	require.Equal(t, []int{32768, 32768, 4464}, sizes)
}

// LZ4 frames of other writers: checksums, content size and larger blocks are
// read, dependent blocks are not, which Kafka does not read either.
func TestLZ4Frames(t *testing.T) {
	src := bytes.Repeat([]byte("seglog "), 20_000)
	var buf bytes.Buffer
	w := lz4.NewWriter(&buf)
	require.NoError(t, w.Apply(lz4.BlockSizeOption(lz4.Block256Kb), lz4.ChecksumOption(true),
		lz4.BlockChecksumOption(true), lz4.SizeOption(uint64(len(src)))))
	_, err := w.Write(src)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	got, err := decompress(LZ4, nil, buf.Bytes(), len(src))
	require.NoError(t, err)
	require.Equal(t, src, got)

	dependent := mustCompress(t, LZ4, src)
	dependent[4] &^= 0x20
	for ok := false; !ok; dependent[6]++ { // find the checksum that fits the flags
		ok, _ = lz4.ValidFrameHeader(dependent)
	}
	dependent[6]--
	_, err = decompress(LZ4, nil, dependent, len(src))
	require.ErrorIs(t, err, ErrCorrupt)
}

// A frame may declare a window far above the limit, as zstd's higher levels
// do, as long as what comes out is within it.
func TestZstdWindow(t *testing.T) {
	src := bytes.Repeat([]byte("seglog "), 1000)
	for _, window := range []byte{0x58, 0x88, 0xa8} { // 2 MiB, 128 MiB, 2 GiB
		frame := mustZstdWindow(t, src, window)
		got, err := decompress(Zstd, nil, frame, len(src))
		require.NoError(t, err)
		require.Equal(t, src, got)
		_, err = decompress(Zstd, nil, frame, len(src)-1)
		require.ErrorIs(t, err, ErrTooLarge)
	}
}

// mustZstdWindow compresses src to a frame without content size whose window
// descriptor is w.
func mustZstdWindow(t testing.TB, src []byte, w byte) []byte {
	var buf bytes.Buffer
	z, err := zstd.NewWriter(&buf, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(false))
	require.NoError(t, err)
	_, err = z.Write(src[:1])
	require.NoError(t, err)
	require.NoError(t, z.Flush()) // a stream whose size is not known at its start
	_, err = z.Write(src[1:])
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.Zero(t, buf.Bytes()[4], "frame descriptor")
	buf.Bytes()[5] = w
	return buf.Bytes()
}

// Every stream cut short is an error, and so is one with a flipped bit or
// the data comes out right.
func TestDamagedStreams(t *testing.T) {
	src := bytes.Repeat([]byte("seglog "), 100)
	for c := Gzip; c.valid(); c++ {
		out := mustCompress(t, c, src)
		for n := range out {
			got, err := decompress(c, nil, out[:n], len(src))
			if c == Snappy && n == xerialHeaderSize || c == Zstd && n == 0 {
				require.NoError(t, err)
				require.Empty(t, got) // a stream of no blocks
				continue
			}
			require.ErrorIs(t, err, ErrCorrupt, "%v: %d of %d bytes", c, n, len(out))
		}
		for bit := range 8 * len(out) {
			bad := slices.Clone(out)
			bad[bit/8] ^= 1 << (bit % 8)
			if _, err := decompress(c, nil, bad, len(src)); err != nil {
				require.True(t, errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTooLarge), "%v: bit %d: %v", c, bit, err)
			}
		}
	}
}

// Small batches that inflate, or claim to inflate, to gigabytes are refused
// for a few times the limit's memory.
func TestBombs(t *testing.T) {
	const limit = 1 << 20
	zeros := make([]byte, 64<<20)
	claim := func(size uint64) []byte { return append(binary.AppendUvarint(nil, size), 0, 'x') }
	chunk := func(b []byte) []byte {
		return append(binary.BigEndian.AppendUint32(slices.Clone(xerialHeader[:]), uint32(len(b))), b...)
	}
	for _, tt := range []struct {
		name  string
		codec Codec
		bytes []byte
		err   error
	}{
		{"gzip", Gzip, mustCompress(t, Gzip, zeros), ErrTooLarge},
		{"lz4", LZ4, mustCompress(t, LZ4, zeros), ErrTooLarge},
		{"zstd", Zstd, mustCompress(t, Zstd, zeros), ErrTooLarge},
		{"zstd without size", Zstd, mustZstdWindow(t, zeros, 0x50), ErrTooLarge},
		{"zstd with a window of 128 MiB", Zstd, mustZstdWindow(t, zeros, 0x88), ErrTooLarge},
		{"zstd claims 4 GiB", Zstd, unhex("28b52ffda0ffffffff" + "010000"), ErrTooLarge},
		{"snappy", Snappy, mustCompress(t, Snappy, zeros), ErrTooLarge},
		{"snappy block", Snappy, s2.EncodeSnappy(nil, zeros), ErrTooLarge},
		{"snappy claims 4 GiB", Snappy, claim(1<<32 - 1), ErrCorrupt},
		{"snappy claims 1 MiB", Snappy, claim(limit), ErrCorrupt},
		{"xerial claims 4 GiB", Snappy, chunk(claim(1<<32 - 1)), ErrCorrupt},
		{"xerial chunk of 4 GiB", Snappy, append(slices.Clone(xerialHeader[:]), 0xff, 0xff, 0xff, 0xff, 0), ErrCorrupt},
		{"lz4 block of 2 GiB", LZ4, unhex("04224d18604082" + "ffffff7f" + "00"), ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raw := assemble(BatchHeader{Count: 1, Attributes: int16(tt.codec)}, tt.bytes)
			b, err := Parse(raw)
			require.NoError(t, err)
			d := Decoder{MaxBytes: limit}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err = d.Reset(b)
			runtime.ReadMemStats(&after)
			require.ErrorIs(t, err, tt.err)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(6*limit))
		})
	}
}

// The same bytes of payload cannot claim gigabytes of headers.
func TestHeaderBomb(t *testing.T) {
	count := 2 * MaxHeaders
	body := unhex("0000000101")
	body = binary.AppendVarint(body, int64(count))
	body = append(body, make([]byte, 2*count)...)
	payload := append(binary.AppendVarint(nil, int64(len(body))), body...)
	b, err := Parse(assemble(BatchHeader{Count: 1, Attributes: int16(Zstd)}, mustCompress(t, Zstd, payload)))
	require.NoError(t, err)
	require.Less(t, b.Size, 1000)
	require.ErrorIs(t, Validate(b, new(Decoder)), ErrTooLarge)
}
