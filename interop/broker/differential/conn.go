package differential

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var errClosed = errors.New("connection closed")

// conn is one connection of a client to a broker. Requests may be sent before
// the answers to earlier ones are there.
type conn struct {
	net     net.Conn
	request *kmsg.RequestFormatter
	mu      struct {
		sync.Mutex
		sent    int32
		waiting []*pending // in the order of the requests, which is that of the answers
		closed  bool
	}
}

// pending is a request and, once done is closed, its answer or why there is none.
type pending struct {
	number int32
	req    kmsg.Request
	done   chan struct{}
	resp   kmsg.Response
	err    error
}

func (p *pending) answered() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func dial(addr, clientID string) (*conn, error) {
	nc, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		return nil, err
	}
	c := &conn{net: nc, request: kmsg.NewRequestFormatter(kmsg.FormatterClientID(clientID))}
	go c.read()
	return c, nil
}

func (c *conn) close() { _ = c.net.Close() }

func (c *conn) closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.closed
}

// send sends a request; a connection that is closed is found out by its answer.
func (c *conn) send(req kmsg.Request) *pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.sent++
	p := &pending{number: c.mu.sent, req: req, done: make(chan struct{})}
	if c.mu.closed {
		p.err = errClosed
		close(p.done)
		return p
	}
	c.mu.waiting = append(c.mu.waiting, p)
	_, _ = c.net.Write(c.request.AppendRequest(nil, req, p.number))
	return p
}

// tell sends a request that has no answer, and returns when the next one has
// been answered, so that it has been done, or the connection closed.
func (c *conn) tell(req kmsg.Request) error {
	c.mu.Lock()
	c.mu.sent++
	_, _ = c.net.Write(c.request.AppendRequest(nil, req, c.mu.sent))
	c.mu.Unlock()
	versions := kmsg.NewPtrApiVersionsRequest()
	_, err := c.ask(versions)
	return err
}

// ask sends a request and waits for its answer.
func (c *conn) ask(req kmsg.Request) (kmsg.Response, error) {
	p := c.send(req)
	select {
	case <-p.done:
		return p.resp, p.err
	case <-time.After(patience):
		return nil, fmt.Errorf("%s is not answered", kmsg.NameForKey(req.Key()))
	}
}

// patience is how long an answer is waited for which has to come.
const patience = 20 * time.Second

func (c *conn) read() {
	for {
		var size [4]byte
		_, err := io.ReadFull(c.net, size[:])
		body := make([]byte, binary.BigEndian.Uint32(size[:]))
		if err == nil {
			_, err = io.ReadFull(c.net, body)
		}
		c.mu.Lock()
		if err != nil || len(body) < 4 || len(c.mu.waiting) == 0 {
			c.mu.closed = true
			for _, p := range c.mu.waiting {
				p.err = errClosed
				close(p.done)
			}
			c.mu.waiting = nil
			c.mu.Unlock()
			_ = c.net.Close()
			return
		}
		p := c.mu.waiting[0]
		c.mu.waiting = c.mu.waiting[1:]
		c.mu.Unlock()
		p.resp, p.err = decode(p, body)
		close(p.done)
	}
}

// decode reads an answer, its header too.
func decode(p *pending, body []byte) (kmsg.Response, error) {
	if number := int32(binary.BigEndian.Uint32(body)); number != p.number {
		return nil, fmt.Errorf("an answer to request %d in place of %d", number, p.number)
	}
	body = body[4:]
	resp := p.req.ResponseKind()
	if resp.IsFlexible() && p.req.Key() != kmsg.ApiVersions.Int16() {
		if len(body) == 0 || body[0] != 0 {
			return nil, errors.New("an answer whose header has no empty list of tags")
		}
		body = body[1:]
	}
	if err := resp.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("an answer that cannot be read: %w", err)
	}
	if again := resp.AppendTo(nil); len(again) != len(body) {
		return nil, fmt.Errorf("an answer of %d bytes, of which its fields are %d", len(body), len(again))
	}
	return resp, nil
}
