package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/group"
)

// maxLags is how many series there may be of the lag of consumer groups. Of more
// the first are told, by coordinator, group, topic and partition, so that it is
// the same ones each time.
const maxLags = 10_000

// state collects what the broker is asked for when the metrics are.
type state struct{ *Metrics }

// ofState are the metrics that it collects.
var ofState = []*metric{messagesIn, bytesIn, bytesOut, bytesRejected, produces, failedProduces, fetches, failedFetches,
	brokerState, partitions, leaders, offline, offlineDirs, logSize, logStart, logEnd, logSegments, mapped, pins,
	groupCount, groupEmpty, groupPreparing, groupCompleting, groupStable, groupOffsets, groupLag, groupLagLeft}

var descs = func() map[*metric]*prometheus.Desc {
	all := make(map[*metric]*prometheus.Desc)
	for _, m := range ofState {
		all[m] = m.desc()
	}
	return all
}()

func (s state) Describe(to chan<- *prometheus.Desc) {
	for _, m := range ofState {
		to <- descs[m]
	}
}

// Collect tells nothing of partitions while there is no broker, or none any more.
func (s state) Collect(to chan<- prometheus.Metric) {
	c := collecting{to}
	now := s.state.Load()
	c.tell(brokerState, int64(now))
	if b := s.b.Load(); b != nil && now == serving {
		c.topics(b)
		c.groups(b)
	}
}

type collecting struct{ to chan<- prometheus.Metric }

func (c collecting) tell(m *metric, value int64, labels ...string) {
	kind := prometheus.GaugeValue
	if m.kind == counter {
		kind = prometheus.CounterValue
	}
	c.to <- prometheus.MustNewConstMetric(descs[m], kind, float64(value), labels...)
}

func (c collecting) topics(b *broker.Broker) {
	var all, led, inUse, maps int64
	for _, t := range b.Topics() {
		c.traffic(t)
		for _, p := range t.Partitions() {
			all++
			l, err := p.Log()
			if err != nil {
				continue
			}
			led++
			stats, number := l.Stats(), strconv.Itoa(int(p.Number()))
			c.tell(logSize, stats.Bytes, t.Name(), number)
			c.tell(logStart, stats.First, t.Name(), number)
			c.tell(logEnd, stats.End, t.Name(), number)
			c.tell(logSegments, int64(stats.Segments), t.Name(), number)
			inUse, maps = inUse+stats.Pins, int64(stats.Mapped) // of all logs together
		}
	}
	faults := b.Faults()
	c.tell(partitions, all)
	c.tell(leaders, led)
	c.tell(offline, int64(len(faults.Failed)+len(faults.Offline)))
	directories := int64(0)
	if faults.Directory != nil || len(faults.Failed) > 0 {
		directories = 1
	}
	c.tell(offlineDirs, directories)
	c.tell(mapped, maps)
	c.tell(pins, inUse)
}

func (c collecting) traffic(t *broker.Topic) {
	n := t.Traffic()
	c.tell(messagesIn, n.MessagesIn, t.Name())
	c.tell(bytesIn, n.BytesIn, t.Name())
	c.tell(bytesOut, n.BytesOut, t.Name())
	c.tell(bytesRejected, n.BytesRejected, t.Name())
	c.tell(produces, n.ProduceRequests, t.Name())
	c.tell(failedProduces, n.FailedProduceRequests, t.Name())
	c.tell(fetches, n.FetchRequests, t.Name())
	c.tell(failedFetches, n.FailedFetchRequests, t.Name())
}

func (c collecting) groups(b *broker.Broker) {
	var states [group.Dead]int64
	var offsets int64
	var lags []committed
	b.Groups(func(of *group.Coordinator, _ time.Time) {
		tally := of.Tally()
		for s, n := range tally.States {
			states[s] += int64(n)
		}
		offsets += int64(tally.Offsets)
		lags = appendCommitted(lags, of)
	})
	var all int64
	for _, n := range states {
		all += n
	}
	c.tell(groupCount, all)
	c.tell(groupEmpty, states[group.Empty])
	c.tell(groupPreparing, states[group.PreparingRebalance])
	c.tell(groupCompleting, states[group.CompletingRebalance])
	c.tell(groupStable, states[group.Stable])
	c.tell(groupOffsets, offsets)
	c.tell(groupLagLeft, offsets-int64(len(lags)))
	for _, l := range lags {
		p, err := b.Partition(l.Topic, l.Partition)
		if err != nil {
			continue // the topic is being deleted
		}
		log, err := p.Log()
		if err != nil {
			continue
		}
		c.tell(groupLag, max(log.HighWatermark()-l.Offset.Offset, 0), l.group, l.Topic, strconv.Itoa(int(l.Partition)))
	}
}

// committed is an offset of a group.
type committed struct {
	group string
	group.Fetched
}

// appendCommitted appends a coordinator's until there are maxLags.
func appendCommitted(list []committed, of *group.Coordinator) []committed {
	groups, _ := of.List(nil, nil)
	for _, g := range groups {
		if len(list) == maxLags {
			break
		}
		all, _ := of.FetchAll(g.Group, false)
		for _, f := range all[:min(len(all), maxLags-len(list))] {
			list = append(list, committed{g.Group, f})
		}
	}
	return list
}
