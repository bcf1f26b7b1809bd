package metrics

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seglog/seglog/log"
)

// logMetrics are those of the work on logs.
type logMetrics struct {
	flush                      prometheus.Histogram
	flushErrs, rolled, dropped prometheus.Counter
	done, failed               prometheus.Counter // compactions
	compactions                *prometheus.CounterVec
}

func newLogMetrics() *logMetrics {
	one := func(m *metric) prometheus.Counter { return prometheus.NewCounter(prometheus.CounterOpts(m.opts())) }
	l := &logMetrics{
		flush: prometheus.NewHistogram(flushTime.histogramOpts()), flushErrs: one(flushErrs), rolled: one(rolled), dropped: one(dropped),
		compactions: prometheus.NewCounterVec(prometheus.CounterOpts(compactions.opts()), compactions.labels),
	}
	l.done, l.failed = l.compactions.WithLabelValues("done"), l.compactions.WithLabelValues("failed")
	return l
}

func (l *logMetrics) all() []prometheus.Collector {
	return []prometheus.Collector{l.flush, l.flushErrs, l.rolled, l.dropped, l.compactions}
}

// LogTrace counts what is done to logs, for broker.Options.
func (m *Metrics) LogTrace() log.Trace {
	l := m.logs
	return log.Trace{
		Synced: func(e log.SyncEvent) {
			l.flush.Observe(milliseconds(e.Took))
			if e.Err != nil {
				l.flushErrs.Inc()
			}
		},
		Rolled:  func(log.RollEvent) { l.rolled.Inc() },
		Dropped: func(e log.DropEvent) { l.dropped.Add(float64(len(e.Segments))) },
		Compacted: func(e log.CompactEvent) {
			if e.Err != nil {
				l.failed.Inc()
			} else {
				l.done.Inc()
			}
		},
	}
}

// Logged is a handler that counts what it hands on to another.
func (m *Metrics) Logged(to slog.Handler) slog.Handler { return counted{to, m.logged} }

type counted struct {
	slog.Handler
	lines *prometheus.CounterVec
}

func (c counted) Handle(ctx context.Context, r slog.Record) error {
	c.lines.WithLabelValues(level(r.Level)).Inc()
	return c.Handler.Handle(ctx, r)
}

func (c counted) WithAttrs(attrs []slog.Attr) slog.Handler {
	return counted{c.Handler.WithAttrs(attrs), c.lines}
}

func (c counted) WithGroup(name string) slog.Handler {
	return counted{c.Handler.WithGroup(name), c.lines}
}

// level is one of the four that have names, the next below.
func level(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return slog.LevelError.String()
	case l >= slog.LevelWarn:
		return slog.LevelWarn.String()
	case l >= slog.LevelInfo:
		return slog.LevelInfo.String()
	}
	return slog.LevelDebug.String()
}
