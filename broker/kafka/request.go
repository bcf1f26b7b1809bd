package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// call is a request being served.
type call struct {
	s   *server
	c   *conn
	ctx context.Context

	api           *api
	key, version  int16
	correlation   int32
	clientID      string
	flexible      bool // of the answer's header
	answerVersion int16
	req           kmsg.Request  // of the version; decode fills it
	resp          kmsg.Response // once it is known, for Trace
}

// errNoAnswer ends a connection whose request cannot be answered.
var errNoAnswer = errors.New("there is no answer to that")

// header reads a request's header, and finds its API.
func (s *server) header(frame []byte) (*call, []byte, error) {
	r := kbin.Reader{Src: frame}
	q := &call{s: s, key: r.Int16(), version: r.Int16(), correlation: r.Int32()}
	q.answerVersion = q.version
	if id := r.NullableString(); id != nil {
		q.clientID = *id
	}
	if err := r.Complete(); errors.Is(err, kbin.ErrNotEnoughData) {
		return nil, nil, fmt.Errorf("%w: a header of %d bytes", errNoAnswer, len(frame))
	}
	q.api = s.apis[q.key]
	switch {
	case q.api == nil:
		return nil, nil, fmt.Errorf("%w: api key %d is not served", errNoAnswer, q.key)
	case q.key == apiVersions && (q.version < q.api.min || q.version > q.api.max):
		q.answerVersion = 0
		return q, nil, nil
	case q.version < max(q.api.min, q.api.usable) || q.version > q.api.max:
		return nil, nil, fmt.Errorf("%w: version %d of %s, served are %d to %d", errNoAnswer, q.version, kmsg.NameForKey(q.key), max(q.api.min, q.api.usable), q.api.max)
	}
	q.req = kmsg.RequestForKey(q.key)
	q.req.SetVersion(q.version)
	if q.req.IsFlexible() {
		for range r.Uvarint() { // tags, none of which mean anything
			r.Uvarint()
			r.Span(int(r.Uvarint()))
			if !r.Ok() {
				return nil, nil, fmt.Errorf("%w: its header ends early", errNoAnswer)
			}
		}
		// The answer to ApiVersions has the oldest header, for who does not know
		// what this broker has.
		q.flexible = q.key != apiVersions
	}
	if !r.Ok() {
		return nil, nil, fmt.Errorf("%w: its header ends early", errNoAnswer)
	}
	return q, r.Src, nil
}

// smallRequest is the size above which only produce requests may be, and from
// which on requests are decoded one at a time.
const smallRequest = 8 << 20

// decode reads the body. Bytes behind it are passed over.
func (q *call) decode(body []byte) (kmsg.Request, error) {
	if len(body) > smallRequest {
		if q.key != produce {
			body = body[:smallRequest]
		}
		q.s.large.Lock()
		defer q.s.large.Unlock()
	}
	if err := q.req.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("%w: %s v%d: %w", errNoAnswer, kmsg.NameForKey(q.key), q.version, err)
	}
	return q.req, nil
}

// reply is an answer as it is written: pieces, of which some may be the log's
// memory until done.
type reply struct {
	pieces [][]byte
	done   func()
}

// encode is an answer with its frame.
func (q *call) encode(buf []byte, resp kmsg.Response) []byte {
	resp.SetVersion(q.answerVersion)
	buf = kbin.AppendInt32(buf[:0], 0)
	buf = kbin.AppendInt32(buf, q.correlation)
	if q.flexible {
		buf = kbin.AppendUvarint(buf, 0) // no tags
	}
	return resp.AppendTo(buf)
}

// framed sets the size of an answer whose pieces are complete.
func framed(pieces [][]byte) [][]byte {
	size := -4
	for _, p := range pieces {
		size += len(p)
	}
	kbin.AppendInt32(pieces[0][:0], int32(size))
	return pieces
}
