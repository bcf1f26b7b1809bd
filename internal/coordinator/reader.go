package coordinator

import (
	"encoding/binary"
	"fmt"
)

// reader reads fields. Its first error is kept, and zero values come after it.
type reader struct {
	b        []byte
	flexible bool
	err      error
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.b) {
		if r.err == nil {
			r.err = fmt.Errorf("%w: a field of %d bytes where %d are left", ErrMalformed, n, len(r.b))
		}
		return nil
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}

func (r *reader) int8() int8 {
	if b := r.take(1); b != nil {
		return int8(b[0])
	}
	return 0
}

func (r *reader) int16() int16 {
	if b := r.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *reader) int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) int64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r *reader) uvarint() int {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > 1<<31 {
		r.take(len(r.b) + 1)
		return 0
	}
	r.take(n)
	return int(v)
}

// length is that of an array, -1 for null. In fixed versions size says how the
// lengths of what is read are written.
func (r *reader) length(size int) int {
	switch {
	case r.flexible:
		return r.uvarint() - 1
	case size == 2:
		return int(r.int16())
	}
	return int(r.int32())
}

// text is a string, nil if null.
func (r *reader) text() *string {
	n := r.length(2)
	if n < 0 || r.err != nil {
		return nil
	}
	s := string(r.take(n))
	return &s
}

// must is a string that the schema does not let be null.
func (r *reader) must() string {
	s := r.text()
	if s == nil {
		r.take(len(r.b) + 1)
		return ""
	}
	return *s
}

// bytes are nil if null.
func (r *reader) bytes() []byte {
	n := r.length(4)
	if n < 0 || r.err != nil {
		return nil
	}
	return append([]byte{}, r.take(n)...)
}

// array reads elements; it is nil if null.
func array[T any](r *reader, element func(*reader) T) []T {
	n := r.length(4)
	if n < 0 {
		return nil
	}
	list := []T{}
	for ; n > 0 && r.err == nil; n-- {
		list = append(list, element(r))
	}
	return list
}

// tags reads the tagged fields at the end of a struct, those of which it is
// told with their func.
func (r *reader) tags(known map[int]func(*reader)) {
	if !r.flexible {
		return
	}
	for n := r.uvarint(); n > 0 && r.err == nil; n-- {
		tag, size := r.uvarint(), r.uvarint()
		field := reader{b: r.take(size), flexible: true}
		if read := known[tag]; read != nil && r.err == nil {
			read(&field)
			r.err = field.err
		}
	}
}
