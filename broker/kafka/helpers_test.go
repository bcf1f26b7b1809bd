package kafka

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
)

// served is a broker that listens.
type served struct {
	t      testing.TB
	dir    string
	addr   string
	b      *broker.Broker
	server *server
	cancel context.CancelFunc
	done   chan error
}

// serve starts a broker on a directory and an address of loopback; "" is any.
func serve(t testing.TB, dir, addr string, config map[string]string) *served {
	t.Helper()
	b, err := broker.Open(dir, broker.Options{Config: config})
	require.NoError(t, err)
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	// A client that tries to connect to a port of loopback where nobody listens may
	// be given that very port for its own end, and has it until it notices.
	var l net.Listener
	require.Eventually(t, func() bool { l, err = net.Listen("tcp", addr); return err == nil }, 20*time.Second, 10*time.Millisecond)
	ctx, cancel := context.WithCancel(context.Background())
	s := &served{t: t, dir: dir, addr: l.Addr().String(), b: b, cancel: cancel, done: make(chan error, 1)}
	s.server, err = newServer(l.Addr(), b)
	require.NoError(t, err)
	go func() { s.done <- s.server.serve(ctx, l) }()
	t.Cleanup(s.stop)
	return s
}

// stop ends the broker; again does nothing.
func (s *served) stop() {
	s.cancel()
	if err, ok := <-s.done; ok && err != nil {
		s.t.Error(err)
	}
	select {
	case <-s.done:
	default:
		close(s.done)
	}
	if err := s.b.Close(); err != nil && !errors.Is(err, broker.ErrClosed) {
		s.t.Error(err)
	}
}

func client(t testing.TB, addr string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(addr), kgo.AllowAutoTopicCreation()}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// wire is a connection without a client's niceties.
type wire struct {
	t  testing.TB
	nc net.Conn
	n  int32
}

func dial(t testing.TB, addr string) *wire {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = nc.Close() })
	require.NoError(t, nc.SetDeadline(time.Now().Add(30*time.Second)))
	return &wire{t: t, nc: nc}
}

func frame(req kmsg.Request, correlation int32) []byte {
	id := "test"
	f := kmsg.NewRequestFormatter(kmsg.FormatterClientID(id))
	return f.AppendRequest(nil, req, correlation)
}

// send writes a request in a version.
func (w *wire) send(req kmsg.Request, version int16) {
	w.t.Helper()
	req.SetVersion(version)
	w.n++
	_, err := w.nc.Write(frame(req, w.n))
	require.NoError(w.t, err)
}

// receive reads an answer, which has to be that of the request with this number.
func (w *wire) receive(req kmsg.Request, number int32) kmsg.Response {
	w.t.Helper()
	body, err := readAnswer(w.nc)
	require.NoError(w.t, err)
	r := kbin.Reader{Src: body}
	require.Equal(w.t, number, r.Int32())
	resp := req.ResponseKind()
	if resp.IsFlexible() && req.Key() != apiVersions {
		require.Zero(w.t, r.Uvarint())
	}
	require.NoError(w.t, resp.ReadFrom(r.Src))
	return resp
}

// ask sends and receives.
func ask[R kmsg.Response](w *wire, req kmsg.Request, version int16) R {
	w.t.Helper()
	w.send(req, version)
	return w.receive(req, w.n).(R)
}

func readAnswer(nc net.Conn) ([]byte, error) {
	var head [4]byte
	if err := readFull(nc, head[:]); err != nil {
		return nil, err
	}
	r := kbin.Reader{Src: head[:]}
	body := make([]byte, r.Int32())
	return body, readFull(nc, body)
}

func readFull(nc net.Conn, p []byte) error {
	for len(p) > 0 {
		n, err := nc.Read(p)
		if p = p[n:]; err != nil && len(p) > 0 {
			return err
		}
	}
	return nil
}

// closed waits for the broker to close the connection without another answer.
func (w *wire) closed(what string) {
	w.t.Helper()
	n, err := w.nc.Read(make([]byte, 1))
	require.Zero(w.t, n, what)
	require.Error(w.t, err, what)
	var timeout net.Error
	require.False(w.t, errors.As(err, &timeout) && timeout.Timeout(), "%s: the connection stays open", what)
}

// tally counts records by their values.
type tally struct {
	sync.Mutex
	seen map[string]int
}

func (c *tally) add(value string) {
	c.Lock()
	defer c.Unlock()
	if c.seen == nil {
		c.seen = make(map[string]int)
	}
	c.seen[strings.Clone(value)]++
}
