package calls

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// list is what a reader gets, up to its first error.
func list(records iter.Seq2[record.Record, error]) (string, error) {
	var b strings.Builder
	for r, err := range records {
		if err != nil {
			return b.String(), err
		}
		fmt.Fprintln(&b, see(r))
	}
	return b.String(), nil
}

// tail reads along to End.
func tail(w *world) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var b strings.Builder
	for r, err := range w.log.Tail(ctx, w.log.First()) {
		if errors.Is(err, context.Canceled) {
			return b.String(), nil
		}
		if err != nil {
			return b.String(), err
		}
		fmt.Fprintln(&b, see(r))
		if r.Offset == w.log.End()-1 {
			cancel()
		}
	}
	return b.String(), nil
}

// borrowAll borrows every batch, and keeps the last View.
func borrowAll(w *world) (string, error) {
	var b strings.Builder
	for at := w.log.First(); at < w.log.End(); {
		v, err := w.log.Borrow(at, 1)
		if err != nil {
			return b.String(), err
		}
		_, _ = v.WriteTo(&b)
		at = v.Next()
		v.Release()
	}
	return b.String(), nil
}

func offsetAt(t time.Time) func(w *world) (string, error) {
	return func(w *world) (string, error) {
		offset, err := w.log.OffsetAt(t)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(offset), nil
	}
}

// beside opens a writer, and the log for reading beside it.
func beside(w *world) {
	writer := newWorld(w.mem, small())
	writer.mem, writer.fs = w.mem, nil
	writer.opts.Env.FS = w.mem
	must(writer.open())
	w.held = append(w.held, func() { must(writer.close()) })
	w.beside = writer
	must1(writer.log.Append(rec("k1", 200)))
	must(w.open())
}

func refresh(w *world) (string, error) {
	if err := w.log.Refresh(ctx); err != nil {
		return "", err
	}
	return fmt.Sprint(w.log.First(), w.log.End()), nil
}

func explain(w *world) (string, error) {
	e, err := w.log.Explain(w.log.First() + 1)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%+v", e), nil
}

func explainAt(w *world) (string, error) {
	e, err := w.log.ExplainAt(noon.Add(-990 * time.Second))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%+v", e), nil
}

// reads are on segments that nobody has mapped.
var reads = []scenario{
	{name: "read", state: clean, do: func(w *world) (string, error) {
		r, err := w.log.Read(w.log.First() + 1)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(see(r)), nil
	}},
	{name: "read/no derived files", state: unindexed, opts: mode(log.ReadOnly), do: func(w *world) (string, error) {
		r, err := w.log.Read(w.log.First() + 1)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(see(r)), nil
	}},
	{name: "from", state: clean, do: func(w *world) (string, error) { return list(w.log.From(w.log.First())) }},
	{name: "from/after a kill", state: killed, do: func(w *world) (string, error) { return list(w.log.From(w.log.First())) }},
	{name: "from/index lost under it", state: clean, ready: func(w *world) {
		must(w.open())
		for _, info := range w.log.Segments()[:3] {
			must(w.mem.Remove(strings.TrimSuffix(info.Path, ".log") + ".index"))
			must(w.mem.Remove(strings.TrimSuffix(info.Path, ".log") + ".timeindex"))
		}
	}, do: func(w *world) (string, error) { return list(w.log.From(w.log.First())) }},
	{name: "from/read-only", state: killed, opts: mode(log.ReadOnly),
		do: func(w *world) (string, error) { return list(w.log.From(w.log.First())) }},
	{name: "from/committed", state: clean,
		do: func(w *world) (string, error) { return list(w.log.Isolated(log.ReadCommitted).From(w.log.First())) }},
	{name: "tail", state: clean, do: tail},
	{name: "tail/read-only", state: clean, opts: mode(log.ReadOnly), ready: beside, do: tail},
	{name: "borrow", state: clean, do: borrowAll},
	{name: "offset at", state: clean, do: offsetAt(noon.Add(-990 * time.Second))},
	{name: "offset at/none", state: clean, do: offsetAt(noon.Add(time.Hour))},
	{name: "explain", state: clean, do: explain},
	{name: "explain at", state: clean, do: explainAt},
	{name: "refresh/grown", state: clean, opts: mode(log.ReadOnly), ready: func(w *world) {
		beside(w)
		must1(w.beside.log.Append(rec("k1", 201)))
	}, do: refresh},
	{name: "refresh/an abort", state: clean, opts: mode(log.ReadOnly), ready: func(w *world) {
		beside(w)
		must1(w.beside.log.EndTransaction(log.EndTxn{ProducerID: 6}))
	}, do: refresh},
	{name: "refresh/rolled", state: clean, opts: mode(log.ReadOnly), ready: func(w *world) {
		beside(w)
		full2(w.beside)
		must(w.log.Refresh(ctx)) // the first looks at the newest segment it knows
	}, do: refresh},
	{name: "refresh/dropped", stale: true, state: clean, opts: mode(log.ReadOnly), ready: func(w *world) {
		beside(w)
		must(w.beside.log.DropBefore(w.beside.log.Segments()[2].Base))
	}, do: refresh},
	{name: "refresh/nothing", state: clean, opts: mode(log.ReadOnly), ready: beside, do: refresh},
}
