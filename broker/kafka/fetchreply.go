package kafka

import (
	"bytes"
	"crypto/rand"
	"errors"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
)

// placeholder stands for a partition's batches while the answer around them is
// encoded: nobody can know it and put it elsewhere.
var placeholder = func() []byte {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // it never fails
	return b
}()

// fetched is the answer with the batches in their places, not copied: pieces of
// what was encoded, and views between them.
func (q *call) fetched(resp *kmsg.FetchResponse, got []broker.Fetched) (reply, error) {
	q.resp = resp
	q.c.out = q.encode(q.c.out, resp)
	rest := q.c.out
	if cap(q.c.out) > keep {
		q.c.out = nil
	}
	answer := reply{done: func() { broker.Release(got) }}
	var prefixes []byte
	flexible := resp.IsFlexible()
	for _, f := range got {
		if f.View == nil {
			continue
		}
		at := bytes.Index(rest, placeholder)
		if at < 0 {
			return answer, errors.New("the answer has not got the place of its batches")
		}
		batches := f.View.Bytes()
		// The length before the placeholder is its own; encoded anew it is that of
		// the batches.
		before := len(lengthOf(nil, len(placeholder), flexible))
		from := len(prefixes)
		prefixes = lengthOf(prefixes, len(batches), flexible)
		answer.pieces = append(answer.pieces, rest[:at-before], prefixes[from:len(prefixes):len(prefixes)], batches)
		rest = rest[at+len(placeholder):]
	}
	answer.pieces = framed(append(answer.pieces, rest))
	return answer, nil
}

// lengthOf is what precedes n bytes.
func lengthOf(dst []byte, n int, flexible bool) []byte {
	if flexible {
		return kbin.AppendUvarint(dst, uint32(n)+1)
	}
	return kbin.AppendInt32(dst, int32(n))
}
