package kafka

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// keep is how large a buffer of its own a connection may have between two
// requests.
const keep = 16 << 10

// pooled is the size of the buffers that connections share for what is larger:
// room for a produce request of one batch of the largest size, by default.
const pooled = 1<<20 + 64<<10

var buffers = sync.Pool{New: func() any { return new([pooled]byte) }}

// frames reads requests: a size and as many bytes.
type frames struct {
	r       io.Reader
	largest int64
	share   share
	own     []byte // at most keep, from one request to the next
	buf     []byte
	lent    *[pooled]byte // what buf is of, if it is of the pool
}

// giveBack gives up what is more than may be kept.
func (f *frames) giveBack() {
	if f.lent != nil {
		buffers.Put(f.lent)
		f.lent = nil
	}
	f.buf = f.own[:0]
	f.share.shrink(int64(cap(f.buf)))
}

// grow makes room for n bytes of the size that is to come.
func (f *frames) grow(ctx context.Context, n, size int64) error {
	if n > keep && size <= pooled {
		n = pooled
	}
	if err := f.share.grow(ctx, n); err != nil {
		return err
	}
	have := f.buf
	if n == pooled {
		f.lent = buffers.Get().(*[pooled]byte)
		f.buf = f.lent[:0]
	} else {
		f.buf = make([]byte, 0, n)
	}
	f.buf = append(f.buf, have...)
	if n <= keep {
		f.own = f.buf
	}
	return nil
}

// next reads one request. It is valid until the next call. Its buffer grows with
// what arrives. The first byte of it has been waited for by the caller, or not.
func (f *frames) next(ctx context.Context) ([]byte, error) {
	f.giveBack()
	var head [4]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return nil, err
	}
	size := int64(int32(binary.BigEndian.Uint32(head[:])))
	if size <= 0 || size > f.largest {
		return nil, fmt.Errorf("a request of %d bytes: want 1 to %d (socket.request.max.bytes)", size, f.largest)
	}
	for have := int64(0); have < size; {
		// Twice what has arrived, so that a claim costs nothing.
		if have == int64(cap(f.buf)) {
			if err := f.grow(ctx, min(size, max(2*have, 4<<10)), size); err != nil {
				return nil, err
			}
		}
		room := min(size, int64(cap(f.buf)))
		n, err := io.ReadFull(f.r, f.buf[have:room])
		if have += int64(n); err != nil {
			return nil, fmt.Errorf("a request of %d bytes ends after %d: %w", size, have, err)
		}
		f.buf = f.buf[:have]
	}
	return f.buf[:size], nil
}
