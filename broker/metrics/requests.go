package metrics

import (
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker/kafka"
)

// requestMetrics are those of connections and of requests by their name. What is
// looked up by name or number is kept in tables, since looking it up by labels
// allocates.
type requestMetrics struct {
	requests, errs             *prometheus.CounterVec
	total, local, remote, send *prometheus.HistogramVec
	in, out, connected         prometheus.Counter
	connections                prometheus.Gauge

	byKey [128]atomic.Pointer[requestMetric]
}

func newRequestMetrics() *requestMetrics {
	counters := func(m *metric) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts(m.opts()), m.labels)
	}
	histograms := func(m *metric) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(m.histogramOpts(), m.labels)
	}
	one := func(m *metric) prometheus.Counter { return prometheus.NewCounter(prometheus.CounterOpts(m.opts())) }
	return &requestMetrics{
		requests: counters(requests), errs: counters(requestErrs),
		total: histograms(totalTime), local: histograms(localTime), remote: histograms(remoteTime), send: histograms(sendTime),
		in: one(bytesRead), out: one(bytesWritten), connected: one(connected),
		connections: prometheus.NewGauge(prometheus.GaugeOpts(connections.opts())),
	}
}

func (r *requestMetrics) all() []prometheus.Collector {
	return []prometheus.Collector{r.requests, r.errs, r.total, r.local, r.remote, r.send, r.in, r.out, r.connected, r.connections}
}

// RequestTrace counts requests and connections, for kafka.ServeTraced.
func (m *Metrics) RequestTrace() kafka.Trace {
	r := m.requests
	return kafka.Trace{
		Connected: func() {
			r.connected.Inc()
			r.connections.Inc()
		},
		Disconnected: r.connections.Dec,
		Answered:     r.answered,
		Sent: func(s kafka.Sent) {
			r.of(s.Key).send.Observe(milliseconds(s.Took))
		},
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (r *requestMetrics) answered(a kafka.Answered) {
	one := r.of(a.Key)
	one.version(r, a.Version).Inc()
	one.total.Observe(milliseconds(a.Took))
	one.local.Observe(milliseconds(a.Took - a.Waited))
	one.remote.Observe(milliseconds(a.Waited))
	r.in.Add(float64(a.RequestBytes))
	r.out.Add(float64(a.ResponseBytes))
	switch {
	case a.Response != nil:
		one.count(r, a.Response)
	case a.Err != nil:
		one.failed(r, a.Err)
	}
}

// of are the metrics of the requests of a key.
func (r *requestMetrics) of(key int16) *requestMetric {
	at := &r.byKey[uint(key)%uint(len(r.byKey))]
	one := at.Load()
	if one == nil || one.key != key {
		one = r.add(key)
		at.Store(one) // whoever else does this at the same time has the same counters
	}
	return one
}

func (r *requestMetrics) add(key int16) *requestMetric {
	name := kmsg.NameForKey(key)
	return &requestMetric{key: key, name: name,
		total: r.total.WithLabelValues(name), local: r.local.WithLabelValues(name), remote: r.remote.WithLabelValues(name), send: r.send.WithLabelValues(name)}
}

// requestMetric are those of the requests of one name.
type requestMetric struct {
	key                        int16
	name                       string
	total, local, remote, send prometheus.Observer

	versions [32]atomic.Pointer[prometheus.Counter]
	codes    [256]atomic.Pointer[prometheus.Counter]
	paths    atomic.Pointer[paths] // to the codes of the answer
}

// kept is what a table has at a place, which make makes.
func kept(table []atomic.Pointer[prometheus.Counter], place int, make func() prometheus.Counter) prometheus.Counter {
	at := &table[uint(place)%uint(len(table))]
	if known := at.Load(); known != nil {
		return *known
	}
	c := make()
	at.Store(&c)
	return c
}

func (q *requestMetric) version(r *requestMetrics, version int16) prometheus.Counter {
	return kept(q.versions[:], int(version), func() prometheus.Counter {
		return r.requests.WithLabelValues(q.name, strconv.Itoa(int(version)))
	})
}

// failed counts the error of a request that has no answer to be told it by.
func (q *requestMetric) failed(r *requestMetrics, err error) {
	var failure *kerr.Error
	if errors.As(err, &failure) {
		q.code(r, failure.Code).Inc()
	}
}

func (q *requestMetric) code(r *requestMetrics, code int16) prometheus.Counter {
	return kept(q.codes[:], int(code)+1, func() prometheus.Counter { // -1 is UNKNOWN_SERVER_ERROR
		name := "NONE"
		if k := kerr.TypedErrorForCode(code); k != nil {
			name = k.Message
		}
		return r.errs.WithLabelValues(q.name, name)
	})
}
