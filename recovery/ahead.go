package recovery

import (
	"math"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

const (
	// aheadStep is how much is read at a time.
	aheadStep = 256 << 10
	// aheadSteps is how far one may be ahead of the other: what lies between
	// has to be in the processor's cache still.
	aheadSteps = 4
)

// ahead reads a mapped log on another processor, close before the caller who
// checks it and so finds in the cache what it would wait for: a checksum over
// memory that nobody has touched takes three times as long. To read is to hash,
// if that is asked for.
type ahead struct {
	log   []byte
	from  int64 // where it began
	read  int64 // up to where it has read, as far as the caller has noticed
	steps chan struct{}
	stop  atomic.Bool
	sum   uint64
	err   error // vfs.ErrFault
}

// readAhead reads a log from a position on. It is to be closed before the log
// is unmapped.
func readAhead(log []byte, from int64, hash bool) *ahead {
	a := &ahead{log: log, from: from, read: from, steps: make(chan struct{}, aheadSteps)}
	read := a.touch
	if hash {
		read = a.hash
	}
	if int64(len(log))-from <= aheadStep*aheadSteps {
		a.run(read) // too little to hand over
	} else {
		go a.run(read)
	}
	return a
}

func (a *ahead) run(read func(step func() []byte)) {
	defer close(a.steps)
	defer vfs.Unguard(vfs.Guard(), &a.err)
	at := a.from
	read(func() []byte {
		if at > a.from {
			a.steps <- struct{}{}
		}
		step := a.log[at:min(at+aheadStep, int64(len(a.log)))]
		at += int64(len(step))
		if a.stop.Load() {
			return nil
		}
		return step
	})
}

func (a *ahead) hash(step func() []byte) {
	d := xxhash.New()
	for b := step(); len(b) > 0; b = step() {
		_, _ = d.Write(b)
	}
	a.sum = d.Sum64()
}

// touch reads a byte of each cache line.
func (a *ahead) touch(step func() []byte) {
	const line = 64
	for b := step(); len(b) > 0; b = step() {
		for ; len(b) >= line; b = b[line:] {
			a.sum += uint64(b[0])
		}
	}
}

// batch waits until the batch at position was read.
func (a *ahead) batch(position int64) {
	a.until(position + record.HeaderSize)
	if h, err := record.ParseHeader(a.log[position:]); err == nil {
		a.until(position + int64(h.Size))
	}
}

// until waits until the log was read up to position, or is read no further.
func (a *ahead) until(position int64) {
	for a.read < position {
		a.read += aheadStep
		if _, more := <-a.steps; !more {
			a.read = math.MaxInt64
		}
	}
}

// end waits until all was read and gives the hash.
func (a *ahead) end() (sum uint64, err error) {
	a.until(math.MaxInt64)
	return a.sum, a.err
}

// close ends the reading, wherever it is.
func (a *ahead) close() {
	a.stop.Store(true)
	_, _ = a.end()
}
