package recovery

import (
	"sync"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// beside does work on mapped memory on another processor while the caller goes
// on. The func it returns waits for the end and gives the error, as often as it
// is called; memory that faults is vfs.ErrFault.
func beside(work func() error) (wait func() error) {
	done := make(chan struct{})
	var err error
	go func() {
		defer close(done)
		defer vfs.Unguard(vfs.Guard(), &err)
		err = work()
	}()
	return func() error {
		<-done
		return err
	}
}

// body is a batch whose checksum is right and whose records are to be read.
type body struct {
	batch     record.Batch
	pos, next int64 // its position, and the offset that was due there
}

// bodies validates the records of batches beside the walk that finds them:
// their checksums say where the next one is, whatever is in them. Where the
// walk is ahead it lends a hand.
type bodies struct {
	log   []byte
	jobs  chan []body
	chunk []body
	free  sync.Pool // of *[]body
	walks validator // the walk's own
	works validator
	wait  func() error
}

// chunkBytes are handed over at a time: enough that waking the other processor
// is cheap beside the work.
const chunkBytes = 1 << 20

func validateBeside(log []byte) *bodies {
	v := &bodies{log: log, jobs: make(chan []body, 4)}
	v.wait = beside(func() error {
		defer func() {
			for range v.jobs { // of a worker that faulted
			}
		}()
		for chunk := range v.jobs {
			v.works.validate(v.log, chunk)
			v.free.Put(&chunk)
		}
		return nil
	})
	return v
}

func (v *bodies) add(b record.Batch, pos, next int64) {
	v.chunk = append(v.chunk, body{b, pos, next})
	if pos-v.chunk[0].pos < chunkBytes {
		return
	}
	select {
	case v.jobs <- v.chunk:
		v.chunk = nil
		if used, ok := v.free.Get().(*[]body); ok {
			v.chunk = (*used)[:0]
		}
	default:
		v.walks.validate(v.log, v.chunk)
		v.chunk = v.chunk[:0]
	}
}

// end waits for what was added and gives the faults that were found.
func (v *bodies) end() ([]*segment.DamageError, error) {
	v.jobs <- v.chunk
	close(v.jobs)
	err := v.wait()
	return append(v.walks.faults, v.works.faults...), err
}

// validator reads the records of batches.
type validator struct {
	decoder record.Decoder
	faults  []*segment.DamageError
}

func (v *validator) validate(log []byte, chunk []body) {
	for _, x := range chunk {
		if err := record.Validate(x.batch, &v.decoder); err != nil {
			v.faults = append(v.faults, damageAt(log, x.pos, x.next, err))
		}
	}
}
