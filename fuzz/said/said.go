// Package said is the words between the machine whose power is cut and the one
// that cuts it: what records look like, and the lines about them.
package said

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// ID is which record it is: the Index-th of the Count of a writer's batch.
// Batches of a writer are numbered from Boot*PerBoot on.
type ID struct {
	Writer, Batch, Index, Count int
}

// PerBoot is above the number of batches a writer can append in one boot.
const PerBoot = 1_000_000

func (id ID) String() string {
	return fmt.Sprintf("%d %d %d %d", id.Writer, id.Batch, id.Index, id.Count)
}

func (id ID) sum() uint64 { return xxhash.Sum64String(id.String()) }

// Value is the record's value, of about size bytes, all of which say which one
// it is.
func Value(id ID, size int) []byte {
	v := append([]byte(id.String()), ' ')
	for word := id.sum(); len(v) < size; word = word*6364136223846793005 + 1442695040888963407 {
		v = binary.LittleEndian.AppendUint64(v, word)
	}
	return v
}

// Parse says which record a value is of; an error, that it is of none.
func Parse(value []byte) (ID, error) {
	fields := bytes.SplitN(value, []byte{' '}, 5)
	var id ID
	for i, n := range []*int{&id.Writer, &id.Batch, &id.Index, &id.Count} {
		if i >= len(fields) {
			return id, fmt.Errorf("a value of %d bytes that nobody wrote: %.40q", len(value), value)
		}
		var err error
		if *n, err = strconv.Atoi(string(fields[i])); err != nil {
			return id, fmt.Errorf("a value of %d bytes that nobody wrote: %.40q", len(value), value)
		}
	}
	if !bytes.Equal(value, Value(id, len(value))) {
		return id, fmt.Errorf("the value of record %v is not what was written", id)
	}
	return id, nil
}

// Keys is how many keys there are.
const Keys = 60

// Key is the record's key where records have one.
func Key(id ID) []byte { return fmt.Appendf(nil, "key %d", id.sum()%Keys) }

// Digest is of records at their offsets: what both sides agree on instead of
// telling each other all of it.
type Digest struct{ h hash.Hash64 }

// NewDigest is the digest of nothing.
func NewDigest() Digest { return Digest{xxhash.New()} }

// Add takes the record at offset in.
func (d Digest) Add(offset int64, id ID) { fmt.Fprintf(d.h, "%d %v\n", offset, id) }

// Sum is the digest of what was added.
func (d Digest) Sum() uint64 { return d.h.Sum64() }
