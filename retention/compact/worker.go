package compact

import (
	"fmt"
	"slices"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// worker is what one goroutine of a round has for itself.
type worker struct {
	*cleaner
	sources *sources
	decoder record.Decoder
	thinner record.Thinner
	records []record.Raw // of the batch at hand
	kept    []record.Raw // those that stay
	tally   tally
	touched uint64 // keeps touch from being optimised away
}

func newWorker(c *cleaner) *worker {
	w := &worker{cleaner: c, sources: newSources(c.Segments), tally: tally{undone: c.End}}
	w.decoder.MaxBytes = c.Config.MaxBatchBytes
	return w
}

// each calls f with the batches of a chunk, guarded. An error of a batch's bytes
// says where it is.
func (w *worker) each(j *chunk, f func(b *batch) error) (err error) {
	var at *batch
	defer func() {
		if at != nil && err != nil {
			err = damage(w.Segments[j.number], at.position, at.BaseOffset, err)
		}
	}()
	defer vfs.Unguard(vfs.Guard(), &err)
	for i := range j.batches {
		at = &j.batches[i]
		if err := f(at); err != nil {
			return err
		}
	}
	return nil
}

// read reads the records of a batch into w.records.
func (w *worker) read(b *record.Batch) (payload []byte, err error) {
	payload, err = w.decoder.Payload(*b)
	if err != nil {
		return nil, fmt.Errorf("batch at offset %d: %w", b.BaseOffset, err)
	}
	w.records = w.records[:0]
	var r record.Raw
	for cursor := record.NewCursor(&b.BatchHeader, payload); ; {
		ok, err := cursor.Next(&r)
		if !ok || err != nil {
			return payload, err
		}
		w.records = append(w.records, r)
	}
}

// window is how many records are looked up together.
const window = 64

// windows cuts the records just read into runs to be looked up together, their
// hashes beside them. Records without a key have any.
func (w *worker) windows(each func(records []record.Raw, hashes []uint64) error) error {
	var hashes [window]uint64
	for run := range slices.Chunk(w.records, window) {
		for i := range run {
			hashes[i] = w.hash(run[i].Key)
		}
		w.touched += w.newest.touch(hashes[:len(run)])
		if err := each(run, hashes[:len(run)]); err != nil {
			return err
		}
	}
	return nil
}
