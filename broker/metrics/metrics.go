package metrics

import (
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seglog/seglog/broker"
)

// Metrics are one broker's.
type Metrics struct {
	registry *prometheus.Registry
	requests *requestMetrics
	logs     *logMetrics
	logged   *prometheus.CounterVec

	b     atomic.Pointer[broker.Broker] // nil while it is opened
	state atomic.Int32
}

// The states, by the numbers of Kafka's BrokerState.
const (
	opening = 1
	serving = 3
	closing = 6
)

// New makes the metrics of a broker that is about to be opened.
func New() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), requests: newRequestMetrics(), logs: newLogMetrics(),
		logged: prometheus.NewCounterVec(prometheus.CounterOpts(logged.opts()), logged.labels)}
	m.state.Store(opening)
	for _, level := range []slog.Level{slog.LevelWarn, slog.LevelError} { // so that there is a first value to compare with
		m.logged.WithLabelValues(level.String())
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.logged, state{m})
	m.registry.MustRegister(m.requests.all()...)
	m.registry.MustRegister(m.logs.all()...)
	return m
}

// Serving says that the broker is open and about to be served.
func (m *Metrics) Serving(b *broker.Broker) {
	m.b.Store(b)
	m.state.Store(serving)
}

// Closing says that the broker is about to be closed, or could not be opened.
func (m *Metrics) Closing() { m.state.Store(closing) }

// Registry is where the metrics are, for a program's own beside them.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// Handler answers with the metrics, as Prometheus asks for them.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}
