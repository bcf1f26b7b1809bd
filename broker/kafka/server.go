package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seglog/seglog/broker"
)

// patience is how long connections have after the end of Serve's context to
// write the answer they were at.
const patience = 5 * time.Second

// server is what the connections of one listener share.
type server struct {
	b        *broker.Broker
	logger   *slog.Logger
	apis     map[int16]*api
	listener net.Addr
	host     string // advertised, if set
	port     int32
	idle     time.Duration // 0 for ever
	largest  int64         // size of a request
	memory   *budget
	large    sync.Mutex // held while a large request is decoded
	sessions *sessions
	trace    Trace

	mu struct {
		sync.Mutex
		conns map[*conn]struct{}
	}
}

// Serve answers Kafka's clients that connect to the listener, until ctx ends,
// which is no error. It then takes no more connections and requests, has those
// that wait answered with what there is, and returns when all connections are
// closed. The listener is closed in any case. Connections that fail are told of
// to the broker's logger.
func Serve(ctx context.Context, l net.Listener, b *broker.Broker) error {
	return ServeTraced(ctx, l, b, Trace{})
}

// ServeTraced is Serve that tells of what it does.
func ServeTraced(ctx context.Context, l net.Listener, b *broker.Broker, trace Trace) error {
	s, err := newServer(l.Addr(), b)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	s.trace = trace
	return s.serve(ctx, l)
}

func (s *server) serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var conns sync.WaitGroup
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		_ = l.Close()
		s.stop()
	}()
	err := s.accept(ctx, l, &conns)
	cancel()
	<-stopped
	s.wait(&conns)
	return err
}

func newServer(at net.Addr, b *broker.Broker) (*server, error) {
	s := &server{b: b, logger: b.Logger(), listener: at, largest: b.ConfigInt("socket.request.max.bytes"),
		memory:   newBudget(b.ConfigInt("queued.max.request.bytes")),
		sessions: newSessions(int(b.ConfigInt("max.incremental.fetch.session.cache.slots")))}
	s.apis = apis()
	if ms := b.ConfigInt("connections.max.idle.ms"); ms > 0 {
		s.idle = time.Duration(ms) * time.Millisecond
	}
	s.mu.conns = make(map[*conn]struct{})
	if text := b.Config("advertised.listeners"); text != "" {
		host, port, err := splitListener(text)
		if err != nil {
			return nil, fmt.Errorf("kafka: advertised.listeners: %w", err)
		}
		s.host, s.port = host, port
	}
	return s, nil
}

// splitListener takes host and port of a listener as Kafka writes it, like
// PLAINTEXT://host:9092, of which there can be one.
func splitListener(text string) (host string, port int32, err error) {
	if strings.Contains(text, ",") {
		return "", 0, fmt.Errorf("%q: there can be one listener", text)
	}
	name, address, ok := strings.Cut(text, "://")
	if !ok {
		name, address = "", text
	}
	if name != "" && !strings.EqualFold(name, "PLAINTEXT") {
		return "", 0, fmt.Errorf("%q: only PLAINTEXT is served", text)
	}
	host, digits, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("%q: the port is no number below 65536", text)
	}
	return host, int32(n), nil
}

// ListenAddress is the address to listen on by the broker's configuration
// (listeners), for net.Listen.
func ListenAddress(b *broker.Broker) (string, error) {
	host, port, err := splitListener(b.Config("listeners"))
	if err != nil {
		return "", fmt.Errorf("kafka: listeners: %w", err)
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port))), nil
}

// accept takes connections until the listener is closed.
func (s *server) accept(ctx context.Context, l net.Listener, conns *sync.WaitGroup) error {
	for pause := time.Duration(0); ; {
		nc, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = nc.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("kafka: the listener was closed: %w", err)
		case err != nil: // no descriptors, say: others will close
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.logger.Error("kafka: a connection could not be taken", "error", err, "again in", pause)
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
			continue
		}
		pause = 0
		c := newConn(s, nc)
		if !s.add(c) {
			s.logger.Warn("kafka: a connection too many was closed", "client", nc.RemoteAddr(), "max.connections", s.b.ConfigInt("max.connections"))
			_ = nc.Close()
			continue
		}
		if s.trace.Connected != nil {
			s.trace.Connected()
		}
		conns.Go(func() {
			defer s.drop(c)
			c.serve(ctx)
		})
	}
}

func (s *server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if int64(len(s.mu.conns)) >= s.b.ConfigInt("max.connections") {
		return false
	}
	s.mu.conns[c] = struct{}{}
	return true
}

func (s *server) drop(c *conn) {
	s.mu.Lock()
	delete(s.mu.conns, c)
	s.mu.Unlock()
	if s.trace.Disconnected != nil {
		s.trace.Disconnected()
	}
}

// stop has connections take no further request.
func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.mu.conns {
		c.stop()
	}
}

// wait waits for the connections, those that take too long are closed.
func (s *server) wait(conns *sync.WaitGroup) {
	timer := time.AfterFunc(patience, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for c := range s.mu.conns {
			_ = c.nc.Close()
		}
	})
	defer timer.Stop()
	conns.Wait()
}

// address is where clients of a connection are told to connect to: what is
// advertised or else where they did.
func (s *server) address(c *conn) (host string, port int32) {
	if s.host != "" {
		return s.host, s.port
	}
	at := s.listener
	if local := c.nc.LocalAddr(); local != nil {
		at = local
	}
	host, digits, err := net.SplitHostPort(at.String())
	if err != nil { // no network: there is one address
		return at.String(), 0
	}
	n, _ := strconv.ParseUint(digits, 10, 16)
	return host, int32(n)
}
