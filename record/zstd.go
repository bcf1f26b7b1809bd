package record

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/zstd"
)

func newZstdWriter() *zstd.Encoder {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // the options are constants
	}
	return w
}

// zstdReader is a decoder and the limit it has been set to.
type zstdReader struct {
	r     *zstd.Decoder
	limit uint64
}

func newZstdReader() *zstdReader {
	r, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(1<<31), // the limit below is what counts
		zstd.WithDecoderMaxMemory(DefaultMaxBytes))
	if err != nil {
		panic(err) // the options are constants
	}
	return &zstdReader{r, DefaultMaxBytes}
}

func (z *zstdReader) decompress(dst, src []byte, limit int) ([]byte, error) {
	// Windows are powers of two, and the decoder limits both by one number.
	windowLog := bits.Len(uint(max(limit, zstd.MinWindowSize) - 1))
	memory := uint64(1) << windowLog
	out, err := z.decodeAll(dst, src, memory)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		out, err = z.decodeAll(dst, withWindow(src, windowLog), memory)
	}
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) ||
		err == nil && len(out) > limit {
		return nil, tooLargef("zstd: more than %d bytes", limit)
	}
	if err != nil {
		return nil, corruptf("zstd: %v", err)
	}
	return out, nil
}

func (z *zstdReader) decodeAll(dst, src []byte, limit uint64) ([]byte, error) {
	if z.limit != limit {
		if err := z.r.ResetWithOptions(nil, zstd.WithDecoderMaxMemory(limit)); err != nil {
			return nil, err
		}
		z.limit = limit
	}
	return z.r.DecodeAll(src, dst)
}

// withWindow returns a copy of src whose first frame declares a window of
// 1<<windowLog bytes. Encoders declare the window of their level, up to 128
// MiB, for a few bytes too. A frame that stays within a limit reaches back
// no further, so a window of the limit serves it as well.
func withWindow(src []byte, windowLog int) []byte {
	const (
		descriptor    = 4 // behind the magic number, RFC 8878 section 3.1.1
		singleSegment = 1 << 5
		minWindowLog  = 10
	)
	src = slices.Clone(src)
	if len(src) > descriptor+1 && src[descriptor]&singleSegment == 0 {
		src[descriptor+1] = byte(windowLog-minWindowLog) << 3
	}
	return src
}
