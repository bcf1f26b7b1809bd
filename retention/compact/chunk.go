package compact

import (
	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// chunkBytes is about how much is verified and given out at a time; a batch is
// not cut.
const chunkBytes = 128 << 10

// chunk is some batches of a source, and what a worker makes of them. It is used
// again, with its memory.
type chunk struct {
	number  int // of the source
	batches []batch
	found   []slot // by the first pass
	keys    []byte // of compressed batches, for the file of keys, by the first pass
	out     []byte // batches written anew, by the second
}

// batch is one of them.
type batch struct {
	record.Batch
	position int64
	ordinal  int64 // of its first record, counted from the first that the walk met

	// What its transaction came to.
	aborted     bool              // it is data of an aborted one
	discardable bool              // it is a marker that nothing depends on
	abort       *index.AbortedTxn // it is the marker of one that the transaction index lists

	found int // where what was found in it ends, in chunk.found

	left     left
	from, to int // in chunk.out, what is left of it where that is not all
}

func (j *chunk) reset(number int) {
	j.number, j.batches, j.found, j.keys, j.out = number, j.batches[:0], j.found[:0], j.keys[:0], j.out[:0]
}

// fill makes the chunk one of verified batches.
func (j *chunk) fill(data []byte, position int64) (err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	for len(data) > 0 {
		b, err := record.Verified(data)
		if err != nil {
			return err
		}
		j.batches = append(j.batches, batch{Batch: b, position: position})
		data, position = data[b.Size:], position+int64(b.Size)
	}
	return nil
}

// raw is what is left of one of the batches.
func (j *chunk) raw(b *batch) []byte {
	if b.left == all {
		return b.Bytes()
	}
	return j.out[b.from:b.to]
}
