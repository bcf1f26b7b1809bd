package workload

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// Usage is what a process holds.
type Usage struct {
	Heap        int64 // live bytes
	Anon        int64 // resident bytes of no file
	Descriptors int64
	Mappings    int64
}

// Used is what this process holds now, without garbage. What Linux alone tells
// is zero elsewhere.
func Used() (u Usage) {
	runtime.GC() // what finalizers of the one before hold on to
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u.Heap = int64(m.HeapAlloc)
	if status, err := os.Open("/proc/self/status"); err == nil {
		for lines := bufio.NewScanner(status); lines.Scan(); {
			if rest, ok := strings.CutPrefix(lines.Text(), "RssAnon:"); ok {
				kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
				u.Anon = kb << 10
			}
		}
		_ = status.Close()
	}
	if names, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.Descriptors = int64(len(names))
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil {
		u.Mappings = int64(strings.Count(string(maps), "\n"))
	}
	return u
}

// Memory reports what open takes, held until the measurement is made, beyond
// what the process had before.
func Memory(b *testing.B, open func() (held any, err error)) {
	b.Helper()
	before := Used()
	var held any
	for i := range b.N {
		if i > 0 {
			continue // once is enough: it is not time that is measured
		}
		var err error
		if held, err = open(); err != nil {
			b.Fatal(err)
		}
	}
	after := Used()
	runtime.KeepAlive(held)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(after.Heap-before.Heap), "heap-B")
	b.ReportMetric(float64(after.Anon-before.Anon), "anon-B")
	b.ReportMetric(float64(after.Descriptors-before.Descriptors), "descriptors")
	b.ReportMetric(float64(after.Mappings-before.Mappings), "mappings")
}
