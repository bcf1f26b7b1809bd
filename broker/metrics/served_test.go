package metrics

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/broker/kafka"
)

// served is a broker that is watched.
type served struct {
	t    *testing.T
	m    *Metrics
	b    *broker.Broker
	addr string
}

func serve(t *testing.T, o broker.Options) *served {
	t.Helper()
	m := New()
	o.Trace = m.LogTrace()
	b, err := broker.Open(t.TempDir(), o)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	m.Serving(b)
	go func() { done <- kafka.ServeTraced(ctx, l, b, m.RequestTrace()) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		if err := b.Close(); err != nil && !errors.Is(err, broker.ErrClosed) && o.Env.FS == nil {
			t.Error(err)
		}
	})
	return &served{t, m, b, l.Addr().String()}
}

func (s *served) topic(name string, partitions int32, configs map[string]string) {
	s.t.Helper()
	_, err := s.b.CreateTopic(s.t.Context(), broker.TopicSpec{Name: name, Partitions: partitions, Configs: configs})
	require.NoError(s.t, err)
}

func (s *served) client(opts ...kgo.Opt) *kgo.Client {
	s.t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(s.addr), kgo.DefaultProduceTopic("t"), kgo.ProducerBatchCompression(kgo.NoCompression())}, opts...)...)
	require.NoError(s.t, err)
	s.t.Cleanup(c.Close)
	return c
}

func (s *served) produce(c *kgo.Client, values ...string) {
	s.t.Helper()
	var records []*kgo.Record
	for _, v := range values {
		records = append(records, kgo.StringRecord(v))
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	require.NoError(s.t, c.ProduceSync(ctx, records...).FirstErr())
}

func (s *served) consume(c *kgo.Client, n int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	for n > 0 {
		f := c.PollFetches(ctx)
		require.NoError(s.t, f.Err())
		n -= f.NumRecords()
	}
}

// gather is what Prometheus would be told, by name.
func (m *Metrics) gather(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	families, err := m.registry.Gather()
	require.NoError(t, err)
	all := make(map[string]*dto.MetricFamily)
	for _, f := range families {
		all[f.GetName()] = f
	}
	return all
}

// value is that of the series which has these labels, name after value; -1 if
// there is none. Of a histogram it is the number of observations.
func (s *served) value(m *metric, labels ...string) float64 {
	s.t.Helper()
	family := s.m.gather(s.t)[m.name]
	if family == nil {
		return -1
	}
series:
	for _, one := range family.Metric {
		has := make(map[string]string)
		for _, l := range one.Label {
			has[l.GetName()] = l.GetValue()
		}
		for i := 0; i < len(labels); i += 2 {
			if has[labels[i]] != labels[i+1] {
				continue series
			}
		}
		switch {
		case one.Counter != nil:
			return one.Counter.GetValue()
		case one.Gauge != nil:
			return one.Gauge.GetValue()
		}
		return float64(one.Histogram.GetSampleCount())
	}
	return -1
}
