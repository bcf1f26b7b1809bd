package calls

import (
	"fmt"
	"time"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention"
	"github.com/seglog/seglog/retention/compact"
)

func dropBefore(to func(l *log.Log) int64) func(w *world) (string, error) {
	return func(w *world) (string, error) { return "", w.log.DropBefore(to(w.log)) }
}

func dropFrom(to func(l *log.Log) int64) func(w *world) (string, error) {
	return func(w *world) (string, error) { return "", w.log.DropFrom(to(w.log)) }
}

func dropAll(start int64) func(w *world) (string, error) {
	return func(w *world) (string, error) { return "", w.log.DropAll(start) }
}

// third is the base of the third segment. Operations are repeated, so offsets
// must not depend on what they did.
func third(l *log.Log) int64 { return 21 }

func retain(w *world) (string, error) {
	_, err := w.log.Retain(ctx)
	return "", err
}

func compaction(w *world) (string, error) {
	_, err := w.log.Compact(ctx)
	return "", err
}

func compacting(o *log.Options) { o.Compaction = &compact.Options{} }

func merging(o *log.Options) {
	compacting(o)
	o.SegmentBytes = 4 << 10
}

func packed(o *log.Options) {
	merging(o)
	o.Compression = record.Gzip
}

// packs is a log of compressed batches of several keys.
var packs = stateOf(func() *vfs.Mem {
	o := small()
	o.Compression = record.Gzip
	w := newWorld(vfs.NewMem(), o)
	must(w.open())
	for i := range 24 {
		must1(w.log.Append(rec(fmt.Sprint("a", i%3), i), rec(fmt.Sprint("b", i), i), rec("c", i)))
	}
	must(w.close())
	return w.mem
})

var drops = []scenario{
	{name: "drop before/inside a segment", state: clean, do: dropBefore(func(l *log.Log) int64 { return third(l) + 1 })},
	{name: "drop before/inside the first segment", state: clean, do: dropBefore(func(l *log.Log) int64 { return 12 })},
	{name: "drop before/at a segment", state: clean, do: dropBefore(third)},
	{name: "drop before/unlinking what a crash left", state: trimmed, do: dropBefore(func(l *log.Log) int64 { return 0 })},
	{name: "drop before/segments are mapped", state: clean, ready: func(w *world) {
		must(w.open())
		must1(viewOf(w.log))
	}, do: dropBefore(third)},
	{name: "drop from/inside a segment", state: clean, do: dropFrom(func(l *log.Log) int64 { return third(l) + 1 })},
	{name: "drop from/at a segment", state: clean, do: dropFrom(third)},
	{name: "drop from/in the newest segment", state: clean, ready: marked, do: dropFrom(func(l *log.Log) int64 { return newest(l).Base + 1 })},
	{name: "drop from/all", state: clean, do: dropFrom(func(l *log.Log) int64 { return l.First() })},
	{name: "drop from/under a View", state: clean, ready: func(w *world) {
		must(w.open())
		v := must1(w.log.Borrow(third(w.log)+1, 1))
		w.held = append(w.held, v.Release)
	}, do: dropFrom(func(l *log.Log) int64 { return third(l) + 1 })},
	{name: "drop all/inside", state: clean, ready: marked, do: dropAll(15)},
	{name: "drop all/beyond", state: clean, do: dropAll(1000)},
	{name: "retain/by size", state: clean, opts: func(o *log.Options) { o.Retention = retention.MaxBytes(2000) }, do: retain},
	{name: "compact/each segment", state: clean, opts: compacting, do: compaction, some: true},
	{name: "compact/several become one", state: clean, opts: merging, do: compaction, some: true},
	{name: "compact/compressed", state: packs, opts: packed, do: compaction, some: true},
	{name: "compact/nothing to do", state: clean, opts: func(o *log.Options) { o.Compaction = &compact.Options{MinLag: 1000 * time.Hour} }, do: compaction},
	{name: "compact/twice", state: clean, opts: func(o *log.Options) {
		merging(o)
		o.Compaction.MapBytes = 64 * 24
	}, ready: func(w *world) {
		must(w.open())
		must1(w.log.Compact(ctx))
		full2(w)
	}, do: compaction, some: true},
}
