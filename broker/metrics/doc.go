// Package metrics tells how a broker does: figures for Prometheus, under the names
// by which Kafka's are known there, and whether it is well.
//
//	m := metrics.New()
//	b, err := broker.Open(dir, broker.Options{Trace: m.LogTrace()})
//	m.Serving(b)
//	err = kafka.ServeTraced(ctx, l, b, m.RequestTrace())
//	http.Handle("/metrics", m.Handler())
//	http.Handle("/healthz", m.Health())
//
// # Names
//
// Kafka's are those that its JMX beans have behind Prometheus' exporter with the
// rules that come with it, in lower case:
// kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec,topic=t is
// kafka_server_brokertopicmetrics_messagesin_total{topic="t"}. So are the units,
// which each HELP ends with: times are in milliseconds. Two things differ. What Kafka tells by topic
// and also in all is there by topic only, so that a sum is right; and times are
// histograms, not quantiles, which cannot be added up. What Kafka has no name for
// begins with seglog_. The table of all is in catalogue.go and, for people, in
// docs/OPERATIONS.md.
//
// # What it costs
//
// What happens for each request adds to counters, without allocation or lock. All
// else is looked up when the metrics are asked for. The number of series is
// bounded by that of topics and partitions; of the lag of consumer groups at most
// maxLags are told.
//
// # Concurrency
//
// All methods may be called by any number of goroutines; none is started.
package metrics
