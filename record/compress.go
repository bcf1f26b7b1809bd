package record

import (
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Compressors are large and hold no state between batches, so they are
// pooled for all Builders. All work on the caller's goroutine.
var (
	gzipWriters = sync.Pool{New: func() any { return &streamWriter{w: gzip.NewWriter(nil)} }}
	lz4Writers  = sync.Pool{New: func() any { return &streamWriter{w: newLZ4Writer()} }}
	zstdWriters = sync.Pool{New: func() any { return newZstdWriter() }}
)

// compress appends src to dst, compressed by c.
func compress(c Codec, dst, src []byte) ([]byte, error) {
	switch c {
	case Gzip:
		w := gzipWriters.Get().(*streamWriter)
		defer gzipWriters.Put(w)
		return w.compress(dst, src)
	case Snappy:
		return appendXerial(dst, src), nil
	case LZ4:
		w := lz4Writers.Get().(*streamWriter)
		defer lz4Writers.Put(w)
		return w.compress(dst, src)
	case Zstd:
		w := zstdWriters.Get().(*zstd.Encoder)
		defer zstdWriters.Put(w)
		return w.EncodeAll(src, dst), nil
	}
	return nil, invalidf("codec %v", c)
}

// streamWriter drives a compressor that writes to an io.Writer.
type streamWriter struct {
	w interface {
		io.WriteCloser
		Reset(io.Writer)
	}
	out appender
}

func (s *streamWriter) compress(dst, src []byte) ([]byte, error) {
	s.out.b = dst
	s.w.Reset(&s.out)
	_, err := s.w.Write(src)
	if closeErr := s.w.Close(); err == nil {
		err = closeErr
	}
	dst, s.out.b = s.out.b, nil // a pooled writer keeps no batch alive
	return dst, err
}

// appender is a Writer that cannot fail.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

// newLZ4Writer writes frames as Java does: independent blocks of 64 KiB and
// no checksums, the batch having its own.
func newLZ4Writer() *lz4.Writer {
	w := lz4.NewWriter(nil)
	err := w.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false), lz4.ConcurrencyOption(1))
	if err != nil {
		panic(err) // the options are constants
	}
	return w
}
