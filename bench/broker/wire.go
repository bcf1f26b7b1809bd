package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// wire is a connection to a broker.
type wire struct {
	nc  net.Conn
	r   *bufio.Reader
	buf []byte // of the last answer
}

func dial(ctx context.Context, n *node) (*wire, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", n.Addr())
	if err != nil {
		return nil, err
	}
	w := &wire{nc: nc, r: bufio.NewReaderSize(nc, 64<<10)}
	context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	return w, nil
}

func (w *wire) close() { _ = w.nc.Close() }

// frame is a request as it is sent.
func frame(req kmsg.Request, version int16) []byte {
	req.SetVersion(version)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("bench")).AppendRequest(nil, req, 1)
}

// size reads what precedes an answer.
func (w *wire) size() (int, error) {
	var head [4]byte
	if _, err := io.ReadFull(w.r, head[:]); err != nil {
		return 0, err
	}
	return int(int32(binary.BigEndian.Uint32(head[:]))), nil
}

// skip takes an answer and throws it away.
func (w *wire) skip() error {
	n, err := w.size()
	if err != nil {
		return err
	}
	_, err = w.r.Discard(n)
	return err
}

// ask sends a request and decodes its answer, which is valid until the next. The
// batches in it are not looked at.
func (w *wire) ask(req kmsg.Request, version int16) (kmsg.Response, error) {
	if _, err := w.nc.Write(frame(req, version)); err != nil {
		return nil, err
	}
	n, err := w.size()
	if err != nil {
		return nil, err
	}
	if cap(w.buf) < n {
		w.buf = make([]byte, n)
	}
	body := w.buf[:n]
	if _, err := io.ReadFull(w.r, body); err != nil {
		return nil, err
	}
	r := kbin.Reader{Src: body}
	r.Int32() // the correlation id; there is one request at a time
	resp := req.ResponseKind()
	if resp.IsFlexible() {
		r.Uvarint() // no tags
	}
	if !r.Ok() {
		return nil, fmt.Errorf("an answer of %d bytes", n)
	}
	return resp, resp.ReadFrom(r.Src)
}
