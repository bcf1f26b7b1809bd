package kafka

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// conn is one client's connection.
type conn struct {
	s       *server
	nc      net.Conn
	r       *bufio.Reader
	frames  frames
	out     []byte // the last answer's buffer, to be used again
	stopped atomic.Bool
	waited  time.Duration // of the request being served, for what it asks for
}

func newConn(s *server, nc net.Conn) *conn {
	c := &conn{s: s, nc: nc, r: bufio.NewReaderSize(nc, 4<<10)}
	c.frames = frames{r: c.r, largest: s.largest, share: share{b: s.memory}}
	return c
}

// stop has the connection take no further request.
func (c *conn) stop() {
	c.stopped.Store(true)
	_ = c.nc.SetReadDeadline(time.Unix(1, 0))
}

// expectRequest lets reads go on for as long as a connection may be idle.
func (c *conn) expectRequest() {
	if c.s.idle > 0 {
		_ = c.nc.SetReadDeadline(time.Now().Add(c.s.idle))
	} else {
		_ = c.nc.SetReadDeadline(time.Time{})
	}
	if c.stopped.Load() { // in the meantime
		_ = c.nc.SetReadDeadline(time.Unix(1, 0))
	}
}

// serve answers requests until there is one that has no answer, or no more.
func (c *conn) serve(ctx context.Context) {
	// What is written is mapped memory, of files that somebody may cut.
	debug.SetPanicOnFault(true)
	defer func() {
		if p := recover(); p != nil {
			c.s.logger.Error("kafka: a request was given up", "client", c.nc.RemoteAddr(), "panic", p, "stack", string(debug.Stack()))
		}
		_ = c.nc.Close()
		c.frames.giveBack()
		c.frames.share.shrink(0)
	}()
	for {
		err := c.serveOne(ctx)
		switch {
		case err == nil:
			continue
		case err == io.EOF, c.stopped.Load(), errors.Is(err, net.ErrClosed), errors.Is(err, os.ErrDeadlineExceeded):
		default:
			c.s.logger.Warn("kafka: a connection is closed", "client", c.nc.RemoteAddr(), "error", err)
		}
		return
	}
}

func (c *conn) serveOne(ctx context.Context) error {
	c.expectRequest()
	frame, err := c.frames.next(ctx)
	if err != nil {
		return err
	}
	q, body, err := c.s.header(frame)
	if err != nil {
		return err
	}
	q.c, q.ctx = c, ctx
	timed := c.s.trace.begin(c)
	answer, err := c.s.answer(q, body)
	if answer.done != nil {
		defer answer.done()
	}
	timed.answered(q, int64(len(frame)), answer, err)
	if err != nil || len(answer.pieces) == 0 {
		return err
	}
	err = c.write(answer.pieces)
	timed.sent(q)
	return err
}

func (c *conn) write(pieces [][]byte) error {
	if c.s.idle > 0 {
		_ = c.nc.SetWriteDeadline(time.Now().Add(c.s.idle))
	}
	if len(pieces) == 1 {
		_, err := c.nc.Write(pieces[0])
		return err
	}
	buffers := net.Buffers(pieces)
	_, err := buffers.WriteTo(c.nc)
	return err
}

// answer decodes and serves a request.
func (s *server) answer(q *call, body []byte) (reply, error) {
	var resp kmsg.Response
	switch {
	case q.answerVersion != q.version:
		resp = unsupportedVersion(q)
	default:
		req, err := q.decode(body)
		if err != nil {
			return reply{}, err
		}
		if q.api.views != nil {
			return q.api.views(q, req)
		}
		if resp, err = q.api.serve(q, req); err != nil {
			return reply{}, fmt.Errorf("%s v%d: %w", kmsg.NameForKey(q.key), q.version, err)
		}
	}
	if resp == nil {
		return reply{}, nil
	}
	q.resp = resp
	q.c.out = q.encode(q.c.out, resp)
	answer := reply{pieces: framed([][]byte{q.c.out})}
	if cap(q.c.out) > keep {
		q.c.out = nil
	}
	return answer, nil
}

// watch watches for the end of the connection while a request waits: the context
// it returns ends with it. done has to be called before the next read.
func (c *conn) watch(ctx context.Context) (_ context.Context, done func()) {
	began := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	c.expectRequest()
	over := make(chan struct{})
	go func() {
		defer close(over)
		if _, err := c.r.Peek(1); err != nil {
			cancel()
		}
	}()
	return ctx, func() {
		_ = c.nc.SetReadDeadline(time.Unix(1, 0))
		<-over
		cancel()
		c.waited += time.Since(began)
	}
}
