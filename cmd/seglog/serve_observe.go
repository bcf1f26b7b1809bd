package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/spf13/cobra"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/broker/kafka"
	"github.com/seglog/seglog/broker/metrics"
	"github.com/seglog/seglog/log"
)

// observed is how a broker can be watched. Without --metrics it is the log alone.
type observed struct {
	logger   *slog.Logger
	logs     log.Trace
	requests kafka.Trace
	metrics  *metrics.Metrics // nil without
	server   *http.Server
	done     chan error
}

// observe begins before the broker is opened, which may take a while, and lasts
// until it is closed.
func (f *serveFlags) observe(cmd *cobra.Command) (*observed, error) {
	handler, err := f.logHandler(cmd)
	if err != nil {
		return nil, err
	}
	if f.metrics == "" {
		if f.pprof {
			return nil, usagef("--pprof is on the address that --metrics gives")
		}
		return &observed{logger: slog.New(handler)}, nil
	}
	address, err := loopbackUnlessSaid(f.metrics)
	if err != nil {
		return nil, usagef("--metrics: %v", err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	m := metrics.New()
	o := &observed{logger: slog.New(m.Logged(handler)), logs: m.LogTrace(), requests: m.RequestTrace(), metrics: m, done: make(chan error, 1)}
	o.server = &http.Server{Handler: f.handler(m), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 5 * time.Minute,
		ErrorLog: slog.NewLogLogger(handler, slog.LevelDebug)}
	go func() { o.done <- o.server.Serve(l) }()
	fmt.Fprintf(cmd.OutOrStdout(), "metrics on http://%s/metrics\n", l.Addr())
	return o, nil
}

func (f *serveFlags) logHandler(cmd *cobra.Command) (slog.Handler, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return nil, usagef("--log-level %q: want debug, info, warn or error", f.logLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch f.logFormat {
	case "text":
		return slog.NewTextHandler(cmd.ErrOrStderr(), options), nil
	case "json":
		return slog.NewJSONHandler(cmd.ErrOrStderr(), options), nil
	}
	return nil, usagef("--log-format %q: want text or json", f.logFormat)
}

// loopbackUnlessSaid is an address for net.Listen; who wants others to connect
// has to give a host, as 0.0.0.0.
func loopbackUnlessSaid(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

func (f *serveFlags) handler(m *metrics.Metrics) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	mux.Handle("GET /healthz", m.Health())
	if f.pprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return mux
}

func (o *observed) serving(b *broker.Broker) {
	if o.metrics != nil {
		o.metrics.Serving(b)
	}
}

func (o *observed) closing() {
	if o.metrics != nil {
		o.metrics.Closing()
	}
}

// stop gives answers under way, as that of a profile, a moment to end.
func (o *observed) stop() error {
	if o.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := o.server.Shutdown(ctx); err != nil {
		_ = o.server.Close()
	}
	if err := <-o.done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("--metrics: %w", err)
	}
	return nil
}
