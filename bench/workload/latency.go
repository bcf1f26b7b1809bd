package workload

import (
	"math"
	"slices"
	"testing"
	"time"
)

// Latencies are times that single calls took, all of them, so that percentiles
// are exact.
type Latencies struct{ ns []int64 }

// Add adds one.
func (l *Latencies) Add(d time.Duration) { l.ns = append(l.ns, int64(d)) }

// Join is all of them together.
func Join(all []Latencies) *Latencies {
	joined := new(Latencies)
	for _, l := range all {
		joined.ns = append(joined.ns, l.ns...)
	}
	return joined
}

// Report reports percentiles as p50-ns, p99-ns and p99.9-ns.
func (l *Latencies) Report(b *testing.B) {
	slices.Sort(l.ns)
	for _, p := range []struct {
		unit  string
		share float64
	}{{"p50-ns", 0.5}, {"p99-ns", 0.99}, {"p99.9-ns", 0.999}} {
		b.ReportMetric(float64(l.percentile(p.share)), p.unit)
	}
}

// percentile is the least value that a share of all is not above; l is sorted.
func (l *Latencies) percentile(share float64) int64 {
	if len(l.ns) == 0 {
		return 0
	}
	return l.ns[max(int(math.Ceil(share*float64(len(l.ns))))-1, 0)]
}

// Woken times how long it takes from before append is called until a reader
// that sleeps has the record: received gets the moment at which it had each.
func Woken(b *testing.B, append func() error, received <-chan time.Time) {
	b.Helper()
	var took Latencies
	total := time.Duration(0)
	n := 0
	once := func() time.Duration {
		time.Sleep(50 * time.Microsecond) // the reader has gone to sleep
		start := time.Now()
		if err := append(); err != nil {
			b.Fatal(err)
		}
		select {
		case at := <-received:
			return at.Sub(start)
		case <-time.After(10 * time.Second):
			b.Fatal("the reader got nothing for 10 s")
			return 0
		}
	}
	once() // which does what is done once
	for b.Loop() {
		d := once()
		took.Add(d)
		total += d
		n++
	}
	b.ReportMetric(float64(total.Nanoseconds())/float64(max(n, 1)), "ns/op")
	took.Report(b)
}
