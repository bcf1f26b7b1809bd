package main

import (
	"regexp"
	"slices"
	"strings"
)

// A group is benchmarks that one process runs, one after the other.
type group struct {
	benchmarks []string
	benchtime  string
	once       bool // comes out the same each time
	touch      bool // memory is touched before, since it is appended to
}

var groups = []group{
	{benchmarks: []string{"Append"}, benchtime: "150ms", touch: true},
	{benchmarks: []string{"AppendParallel"}, benchtime: "150ms", touch: true},
	{benchmarks: []string{"AppendCompressed"}, benchtime: "150ms", touch: true},
	{benchmarks: []string{"AppendSync"}, benchtime: "200ms"},
	{benchmarks: []string{"AppendSyncJournaled"}, benchtime: "200ms"},
	{benchmarks: []string{"Scan", "Read"}, benchtime: "150ms"},
	{benchmarks: []string{"OffsetAt"}, benchtime: "100ms"},
	{benchmarks: []string{"Tail"}, benchtime: "150ms"},
	{benchmarks: []string{"Open"}, benchtime: "1x", touch: true},
	{benchmarks: []string{"Memory"}, benchtime: "1x"},
	{benchmarks: []string{"Disk"}, benchtime: "1x", once: true},
	{benchmarks: []string{"QueuePush", "QueuePushToAck", "QueueLatency"}, benchtime: "150ms", touch: true},
	{benchmarks: []string{"QueueOpen"}, benchtime: "1x"},
	{benchmarks: []string{"QueueDisk"}, benchtime: "1x", once: true},
}

// A workload is one case of a benchmark, with what is told of it.
type workload struct {
	name  string // as the benchmark spells it, without a peer and a codec
	title string
	unit  string   // of the figure that is compared
	more  []string // further units that are shown
	less  bool     // less is better
	peers string   // the case that peers do for this one, "" the same
	chart bool
}

var workloads = []workload{
	{name: "Append/100B/batch=1/sync=none", title: "Append one record of 100 bytes", unit: rate, more: allocs, chart: true},
	{name: "Append/1KiB/batch=1/sync=none", title: "Append one record of 1 KiB", unit: rate, more: allocs},
	{name: "Append/16KiB/batch=1/sync=none", title: "Append one record of 16 KiB", unit: rate, more: allocs},
	{name: "Append/100B/batch=100/sync=none", title: "Append 100 records of 100 bytes at once", unit: rate, more: allocs, chart: true},
	{name: "Append/1KiB/batch=100/sync=none", title: "Append 100 records of 1 KiB at once", unit: rate, more: allocs},
	{name: "Append/16KiB/batch=100/sync=none", title: "Append 100 records of 16 KiB at once", unit: rate, more: allocs},
	{name: "AppendParallel/100B/writers=2", title: "Two goroutines append single records of 100 bytes", unit: rate, more: []string{"fairness"}},
	{name: "AppendParallel/100B/writers=8", title: "Eight goroutines append single records of 100 bytes", unit: rate, more: []string{"fairness"}},
	{name: "AppendCompressed/1KiB/batch=100", title: "Append 100 records of 1 KiB at once, compressed", unit: rate, more: allocs},
	{name: "AppendSync/100B/writers=1", title: "One goroutine appends durable records of 100 bytes", unit: rate, more: percentiles, chart: true},
	{name: "AppendSync/100B/writers=16", title: "16 goroutines append durable records of 100 bytes", unit: rate, more: percentiles, chart: true},
	{name: "AppendSync/100B/writers=64", title: "64 goroutines append durable records of 100 bytes", unit: rate, more: percentiles, chart: true},
	{name: "AppendSyncJournaled/4KiB/writers=1", title: "One goroutine appends durable records of 4 KiB, ext4 with a journal", unit: rate, more: percentiles},
	{name: "Scan/100B/batch=100/owned", title: "Scan a million records, appended 100 at once, as the caller's", unit: rate, more: allocs, chart: true},
	{name: "Scan/100B/batch=100/borrowed", title: "Scan a million records, appended 100 at once, in the engine's memory", unit: rate, more: allocs},
	{name: "Scan/100B/batch=1/owned", title: "Scan a million records, appended one by one, as the caller's", unit: rate, more: allocs,
		peers: "Scan/100B/batch=100/owned"},
	{name: "Scan/100B/batch=1/borrowed", title: "Scan a million records, appended one by one, in the engine's memory", unit: rate, more: allocs,
		peers: "Scan/100B/batch=100/borrowed"},
	{name: "Read", title: "Read one of a million records by its number", unit: rate, more: allocs, chart: true},
	{name: "OffsetAt", title: "Find one of a million records by its time", unit: rate, more: allocs},
	{name: "Tail", title: "From an append until a reader that slept has the record", unit: "p50-ns", more: percentiles[1:], less: true, chart: true},
	{name: "Open/killed/checkpoint=off", title: "Open 1 GiB after a kill at any moment, nothing synced before", unit: "ns/op",
		more: []string{"lost-records"}, less: true, chart: true},
	{name: "Open/killed/checkpoint=on", title: "Open 1 GiB after a kill at any moment, upkeep having synced each 20 ms", unit: "ns/op",
		more: []string{"lost-records"}, less: true, peers: "Open/killed/checkpoint=off"},
	{name: "Open/clean", title: "Open 1 GiB that was closed", unit: "ns/op", less: true},
	{name: "Memory/segments=1000", title: "Hold a log of 1,000 segments open, all of it read", unit: "anon-B",
		more: []string{"heap-B", "descriptors", "mappings"}, less: true},
	{name: "Disk/100B/batch=1", title: "Disk that a record of 100 bytes takes beyond them, appended one by one", unit: "overhead-B/record", less: true,
		peers: "Disk/100B/batch=100"},
	{name: "Disk/100B/batch=100", title: "Disk that a record of 100 bytes takes beyond them, appended 100 at once", unit: "overhead-B/record", less: true},
	{name: "QueuePush/100B/durable=false/pushers=1", title: "Queue: push", unit: rate, more: allocs, chart: true},
	{name: "QueuePush/100B/durable=true/pushers=1", title: "Queue: durable push, one goroutine", unit: rate, more: percentiles},
	{name: "QueuePush/100B/durable=true/pushers=16", title: "Queue: durable push, 16 goroutines", unit: rate, more: percentiles, chart: true},
	{name: "QueuePush/100B/durable=true/pushers=64", title: "Queue: durable push, 64 goroutines", unit: rate, more: percentiles},
	{name: "QueuePushToAck/100B", title: "Queue: push, take and acknowledge", unit: rate, more: allocs, chart: true},
	{name: "QueueLatency/100B", title: "Queue: from a push until a worker that slept has the message", unit: "p50-ns", more: percentiles[1:], less: true, chart: true},
	{name: "QueueOpen/pending=1M", title: "Queue: open with a million messages pending", unit: "ns/op", less: true},
	{name: "QueueDisk/100B", title: "Queue: disk that a message of 100 bytes takes beyond them", unit: "overhead-B/record", less: true},
}

const rate = "records/s"

var (
	allocs      = []string{"allocs/op"}
	percentiles = []string{"p50-ns", "p99-ns", "p99.9-ns"}
)

// of says whether the workload is one of the group's.
func (g group) of(w workload) bool {
	base, _, _ := strings.Cut(w.name, "/")
	return slices.Contains(g.benchmarks, base)
}

func choose(pattern *regexp.Regexp) (chosen []workload) {
	for _, w := range workloads {
		if pattern.MatchString(w.name) {
			chosen = append(chosen, w)
		}
	}
	return chosen
}

func names() (all []string) {
	for _, w := range workloads {
		all = append(all, w.name)
	}
	return all
}

func contains(chosen []workload, benchmark string) bool {
	return slices.ContainsFunc(chosen, func(w workload) bool { return strings.HasPrefix(w.name, benchmark+"/") })
}
