package record

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/pierrec/lz4/v4"
)

// Pooled as the compressors are.
var (
	gzipReaders = sync.Pool{New: func() any { return &gzipReader{} }}
	lz4Readers  = sync.Pool{New: func() any { return &lz4Reader{r: lz4.NewReader(nil)} }}
	zstdReaders = sync.Pool{New: func() any { return newZstdReader() }}
)

// decompress appends src, decompressed by c, to dst, which is empty and
// whose capacity is used. The result is at most limit bytes. Memory is taken
// in steps as the output grows, or at once for a size that the stream claims,
// that is within the limit and that so many compressed bytes can expand to.
// A stream that passes the limit costs a few times the limit at most.
func decompress(c Codec, dst, src []byte, limit int) ([]byte, error) {
	switch c {
	case Gzip:
		r := gzipReaders.Get().(*gzipReader)
		defer gzipReaders.Put(r)
		return r.decompress(dst, src, limit)
	case Snappy:
		return decompressSnappy(dst, src, limit)
	case LZ4:
		r := lz4Readers.Get().(*lz4Reader)
		defer lz4Readers.Put(r)
		return r.decompress(dst, src, limit)
	case Zstd:
		r := zstdReaders.Get().(*zstdReader)
		defer zstdReaders.Put(r)
		return r.decompress(dst, src, limit)
	}
	return nil, corruptf("codec %d", int8(c))
}

type gzipReader struct {
	src bytes.Reader
	r   gzip.Reader
}

func (g *gzipReader) decompress(dst, src []byte, limit int) ([]byte, error) {
	g.src.Reset(src)
	defer g.src.Reset(nil)
	if err := g.r.Reset(&g.src); err != nil {
		return nil, corruptf("gzip: %v", err)
	}
	return readAll("gzip", &g.r, dst, len(src), limit)
}

type lz4Reader struct {
	src bytes.Reader
	r   *lz4.Reader
}

// What the first bytes of an LZ4 frame must be to Kafka's reader: the magic
// number, then version 1 and independent blocks in the flags. The library
// reads frames without, which Kafka could not.
const (
	lz4Magic     = 0x184D2204
	lz4FlagsMask = 0xE0
	lz4Flags     = 0x60
)

func (l *lz4Reader) decompress(dst, src []byte, limit int) ([]byte, error) {
	if len(src) < 5 || binary.LittleEndian.Uint32(src) != lz4Magic || src[4]&lz4FlagsMask != lz4Flags {
		return nil, corruptf("lz4: frame starts with %x", src[:min(5, len(src))])
	}
	l.src.Reset(src)
	l.r.Reset(&l.src)
	defer func() {
		l.src.Reset(nil)
		l.r.Reset(nil)
	}()
	return readAll("lz4", l.r, dst, len(src), limit)
}

// readAll appends to dst what r gives until its end. It reads one byte more
// than the limit if there is one, to tell a full buffer from an overfull one.
func readAll(name string, r io.Reader, dst []byte, compressed, limit int) ([]byte, error) {
	for {
		if len(dst) == cap(dst) {
			dst = growTo(dst, nextCap(cap(dst), compressed, limit+1))
		}
		n, err := r.Read(dst[len(dst):min(cap(dst), limit+1)])
		dst = dst[:len(dst)+n]
		if len(dst) > limit {
			return nil, tooLargef("%s: more than %d bytes", name, limit)
		}
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return nil, corruptf("%s: %v", name, err)
		}
	}
}

// nextCap is the capacity to try after have, at most limit: a few times the
// compressed size, then twice as much each time.
func nextCap(have, compressed, limit int) int {
	if have > limit/2 || compressed > limit/4 {
		return limit
	}
	return min(max(2*have, 4*compressed, 512), limit)
}

func growTo(b []byte, capacity int) []byte { return slices.Grow(b, capacity-len(b)) }
