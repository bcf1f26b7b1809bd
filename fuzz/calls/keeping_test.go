package calls

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention"
)

// told is a Handler that keeps the errors that upkeep reports, for there they go.
type told struct {
	mu   sync.Mutex
	errs []error
	done func() // called when it has failed for some ticks
}

func (*told) Enabled(context.Context, slog.Level) bool { return true }
func (h *told) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (h *told) WithGroup(string) slog.Handler          { return h }
func (h *told) Handle(_ context.Context, r slog.Record) error {
	if r.Level < slog.LevelError {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok {
			h.errs = append(h.errs, err)
		}
		return true
	})
	if len(h.errs) >= 3 {
		h.done()
	}
	return nil
}

func (h *told) all() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return errors.Join(h.errs...)
}

// upkeep is a loop that is ended once it has done what it is for.
type upkeep struct {
	every log.Every
	opts  func(o *log.Options, done func(err error)) // has done called then
	idle  func(l *log.Log) bool                      // there is nothing to do
}

// tick is long enough for all that happens at one to be over before the next.
const tick = 10 * time.Millisecond

// kept opens what the loop is for.
func (u upkeep) kept(w *world, open func(w *world)) {
	w.ended = make(chan struct{}, 1)
	h := new(told)
	h.done = func() {
		select {
		case w.ended <- struct{}{}:
		default:
		}
	}
	w.opts.Logger, w.told = slog.New(h), h
	u.opts(&w.opts, func(err error) { // before it is reported, which an end would prevent
		if err != nil {
			h.mu.Lock()
			h.errs = append(h.errs, err)
			h.mu.Unlock()
		}
		h.done()
	})
	open(w)
	w.forgetTold()
}

// forgetTold lets the next run of the loop begin anew.
func (w *world) forgetTold() {
	select {
	case <-w.ended:
	default:
	}
	w.told.errs = nil
}

// run runs the loop until it has done what it is for, has nothing to do, or has
// failed for some ticks; what else there may be takes the time it has. That it was
// told of an error is its error, what it ends with one as well.
func (u upkeep) run(w *world) (string, error) {
	ctx, stop := context.WithTimeout(ctx, 300*tick)
	defer stop()
	look := time.NewTicker(tick)
	defer look.Stop()
	l := w.log
	go func() {
		for idle := 0; idle < 5; { // what was left undone beside is done by then
			select {
			case <-w.ended:
				stop()
			case <-look.C:
				if idle++; !u.idle(l) {
					idle = 0
				}
			case <-ctx.Done():
				return
			}
		}
		stop()
	}()
	err := w.log.Maintain(ctx, u.every)
	return "", errors.Join(err, w.told.all())
}

var (
	syncing = upkeep{every: log.Every{Sync: tick}, opts: func(o *log.Options, done func(error)) {
		o.Trace.Synced = func(e log.SyncEvent) { done(e.Err) }
	}, idle: func(l *log.Log) bool { return l.Durable() == l.End() }}
	retaining = upkeep{every: log.Every{Retain: tick}, opts: func(o *log.Options, done func(error)) {
		o.Trace.Dropped = func(e log.DropEvent) { done(e.Err) }
	}, idle: func(l *log.Log) bool {
		expired, err := l.Expired()
		return err == nil && len(expired) == 0
	}}
	compactingDue = upkeep{every: log.Every{Compact: tick}, opts: func(o *log.Options, done func(error)) {
		o.Trace.Compacted = func(e log.CompactEvent) { done(e.Err) }
	}, idle: func(l *log.Log) bool {
		plan, err := l.Dirty()
		return err == nil && !plan.Due
	}}
)

func maintain(name string, u upkeep, ready func(w *world)) scenario {
	return scenario{name: name, state: clean, ready: func(w *world) { u.kept(w, ready) }, do: u.run, again: func(w *world) (string, error) {
		w.forgetTold()
		return u.run(w)
	}}
}

// byAge lets the oldest segments go that live made.
func byAge(o *log.Options) { o.Retention = retention.MaxAge(980 * time.Second) }

// verified walks everything; what it finds by a call that failed is its error.
func verified(w *world) (string, error) {
	v, err := log.Verify(ctx, dir, w.opts, nil)
	if err != nil {
		return "", err
	}
	if len(v.Faults) > 0 {
		return "", fmt.Errorf("found: %w", errors.Join(v.Faults...))
	}
	return fmt.Sprintf("%d segments, %d batches, %d records, %d bytes, %d seals", v.Segments, v.Batches, v.Records, v.Bytes, v.Seals), nil // a note may be of the call
}

// keeping is what a service does all the time.
var keeping = []scenario{
	{name: "retain/by age", state: clean, opts: byAge, do: retain},
	{name: "retain/by age, all of it", state: clean, opts: func(o *log.Options) { o.Retention = retention.MaxAge(time.Second) }, do: retain},
	{name: "retain/by age, without timestamps", state: timeless, opts: byAge, do: retain},
	maintain("maintain/sync", syncing, marked),
	maintain("maintain/retain by age", retaining, func(w *world) { must(w.open()) }),
	maintain("maintain/compact", compactingDue, func(w *world) { must(w.open()) }),
	{name: "verify/clean", state: clean},
	{name: "verify/killed", state: killed},
	{name: "verify/torn", state: torn},
	{name: "verify/no derived files", state: unindexed},
	{name: "verify/Kafka's", state: kafkas},
}

func init() {
	for i := range keeping {
		s := &keeping[i]
		switch s.name {
		case "maintain/retain by age":
			s.opts = byAge
		case "maintain/compact":
			s.opts, s.some = merging, true
		}
		if s.do == nil {
			s.do, s.opens, s.closes = verified, true, true // nothing is open before or behind it
		}
	}
}

// timeless is a log of records without timestamps, which are as old as their files.
var timeless = stateOf(func() *vfs.Mem {
	w := newWorld(vfs.NewMem(), small())
	must(w.open())
	for range 30 {
		r := rec("k", 1)
		r.Time = time.Time{}
		must1(w.log.AppendBatch(encode(record.BatchOptions{LeaderEpoch: -1}, r), log.FromClient))
	}
	segments := w.log.Segments()
	must(w.close())
	for i, s := range segments {
		must(w.mem.SetModTime(s.Path, noon.Add(time.Duration(i-len(segments))*400*time.Second)))
	}
	return w.mem
})
