package coordinator

import (
	"bytes"
	"encoding/base64"
)

// schema reads a field; what it returns is written as JSON.
type schema func(*reader) any

// The schemas of plain fields.
var (
	i8   schema = func(r *reader) any { return r.int8() }
	i16  schema = func(r *reader) any { return r.int16() }
	u16  schema = func(r *reader) any { return uint16(r.int16()) }
	i32  schema = func(r *reader) any { return r.int32() }
	i64  schema = func(r *reader) any { return r.int64() }
	uuid schema = func(r *reader) any { return base64.RawURLEncoding.EncodeToString(r.take(16)) }
	text schema = func(r *reader) any { return r.must() }
	blob schema = func(r *reader) any { return r.bytes() }

	maybeText schema = func(r *reader) any { return r.text() }
)

// list is of elements of that schema.
func list(of schema) schema {
	return func(r *reader) any { return array(r, of) }
}

// maybe is a struct behind a byte that is negative where there is none.
func maybe(of schema) schema {
	return func(r *reader) any {
		if r.int8() < 0 {
			return nil
		}
		return of(r)
	}
}

// maybeTagged is maybe in a tagged field: behind a varint, 0 where there is none.
func maybeTagged(of schema) schema {
	return func(r *reader) any {
		if r.uvarint() == 0 {
			return nil
		}
		return of(r)
	}
}

// field is one of a struct.
type field struct {
	name   string
	schema schema
	tag    int // notTagged, or it is there only if it has no default value
}

const notTagged = -1

func f(name string, s schema) field               { return field{name, s, notTagged} }
func tagged(tag int, name string, s schema) field { return field{name, s, tag} }

// structOf has those fields, in the order in which they are written as JSON.
func structOf(fields ...field) schema {
	return func(r *reader) any {
		o := object{fields: fields, values: make([]any, len(fields)), has: make([]bool, len(fields))}
		known := make(map[int]func(*reader))
		for i, f := range fields {
			read := func(r *reader) { o.values[i], o.has[i] = f.schema(r), true }
			if f.tag == notTagged {
				read(r)
			} else {
				known[f.tag] = read
			}
		}
		r.tags(known)
		return o
	}
}

// object is a struct that was read.
type object struct {
	fields []field
	values []any
	has    []bool
}

// MarshalJSON keeps the fields' order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o.fields {
		if !o.has[i] {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		value, err := marshal(o.values[i])
		if err != nil {
			return nil, err
		}
		b.WriteString(`"` + f.name + `":`)
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
