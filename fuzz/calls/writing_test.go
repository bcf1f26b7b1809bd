package calls

import (
	"fmt"
	"strings"
	"time"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// marked is a log that is open and has been written to, so that its checkpoint
// claims no clean close.
func marked(w *world) {
	must(w.open())
	must1(w.log.Append(rec("k1", 200)))
}

// full is marked, with no room for another batch in the newest segment.
func full(w *world) {
	marked(w)
	for newest(w.log).Bytes+170 <= small().SegmentBytes {
		must1(w.log.Append(rec("k1", 200)))
	}
}

func appendOne(w *world) (string, error) {
	first, err := w.log.Append(rec("k2", 300))
	if err != nil {
		return "", err
	}
	return fmt.Sprint(first), nil
}

// appendSync may fail before the records are in the log and after: which, its
// offset tells.
func appendSync(w *world) (string, error) {
	first, err := w.log.AppendSync(ctx, rec("k2", 300))
	if err != nil && first < 0 {
		return "", err
	}
	return fmt.Sprint(first), err
}

// syncOrAppendSync is the way on after AppendSync.
func syncOrAppendSync(w *world) (string, error) {
	if w.log.End() == w.appended {
		return appendSync(w)
	}
	return fmt.Sprint(w.log.End() - 1), w.log.Sync(ctx)
}

func appended(a log.Appended, err error) (string, error) {
	if err != nil {
		return "", err
	}
	a.Duplicate = false // a repeated one is answered with where it went
	return fmt.Sprintf("%+v", a), nil
}

func writing(name string, ready func(w *world), do func(w *world) (string, error)) scenario {
	return scenario{name: name, state: clean, ready: ready, do: do}
}

// the open transaction of the state is producer 6's
var writes = []scenario{
	writing("append/the first", nil, appendOne),
	writing("append/the first, after a kill", nil, appendOne),
	writing("append/fits", marked, appendOne),
	writing("append/rolls", full, appendOne),
	{name: "append/rolls by age", state: clean, ready: marked, do: func(w *world) (string, error) {
		r := rec("k2", 300)
		r.Time = noon.Add(30 * 24 * time.Hour)
		first, err := w.log.Append(r)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(first), nil
	}},
	{name: "append/grows", state: large, opts: func(o *log.Options) { o.SegmentBytes = big().SegmentBytes }, ready: func(w *world) {
		marked(w)
		for range 4 { // up to the end of the first step
			must1(w.log.Append(record.Record{Value: []byte(strings.Repeat("x", 60<<10)), Time: noon}))
		}
	}, do: func(w *world) (string, error) {
		first, err := w.log.Append(record.Record{Value: []byte(strings.Repeat("y", 30<<10)), Time: noon})
		if err != nil {
			return "", err
		}
		return fmt.Sprint(first), nil
	}},
	{name: "append/by pwrite", state: large, opts: func(o *log.Options) { o.SegmentBytes = big().SegmentBytes }, ready: marked,
		do: func(w *world) (string, error) {
			first, err := w.log.Append(record.Record{Value: []byte(strings.Repeat("y", 100<<10)), Time: noon})
			if err != nil {
				return "", err
			}
			return fmt.Sprint(first), nil
		}},
	writing("append and sync/fits", marked, appendSync),
	writing("append and sync/rolls", full, appendSync),
	writing("append batch/idempotent", full, func(w *world) (string, error) {
		return appended(send(w.log, 5, 2, false, rec("p", 7)))
	}),
	writing("append batch/repeated", marked, func(w *world) (string, error) {
		return appended(send(w.log, 5, 1, false, rec("p", 2)))
	}),
	writing("append batch/of a transaction", full, func(w *world) (string, error) {
		return appended(send(w.log, 7, 2, true, rec("t", 7)))
	}),
	writing("append batch/of a new leader epoch", full, func(w *world) (string, error) {
		return appended(w.log.AppendBatch(encodeAt(w.log.End()), log.FromLeader))
	}),
	writing("end a transaction/commit", full, func(w *world) (string, error) {
		return appended(w.log.EndTransaction(log.EndTxn{ProducerID: 6, Commit: true}))
	}),
	writing("end a transaction/abort", marked, func(w *world) (string, error) {
		return appended(w.log.EndTransaction(log.EndTxn{ProducerID: 6}))
	}),
	writing("end a transaction/abort, rolls", full, func(w *world) (string, error) {
		return appended(w.log.EndTransaction(log.EndTxn{ProducerID: 6}))
	}),
	writing("sync/one segment", marked, func(w *world) (string, error) { return "", w.log.Sync(ctx) }),
	writing("sync/several segments", func(w *world) {
		full(w)
		must1(w.log.EndTransaction(log.EndTxn{ProducerID: 6}))
		full2(w)
	}, func(w *world) (string, error) { return "", w.log.Sync(ctx) }),
	{name: "sync/after a kill", state: killed, do: func(w *world) (string, error) { return "", w.log.Sync(ctx) }},
	writing("checkpoint/one segment", marked, func(w *world) (string, error) { return "", w.log.Checkpoint(ctx) }),
	writing("checkpoint/several segments", func(w *world) {
		full(w)
		must1(w.log.EndTransaction(log.EndTxn{ProducerID: 6}))
		full2(w)
	}, func(w *world) (string, error) { return "", w.log.Checkpoint(ctx) }),
	writing("checkpoint/nothing to do", nil, func(w *world) (string, error) { return "", w.log.Checkpoint(ctx) }),
	writing("set the leader epoch", nil, func(w *world) (string, error) { return "", w.log.SetLeaderEpoch(9) }),
	writing("set the leader epoch/marked", marked, func(w *world) (string, error) { return "", w.log.SetLeaderEpoch(9) }),
	writing("set the high watermark", nil, func(w *world) (string, error) { return "", w.log.SetHighWatermark(w.log.End() - 2) }),
	{name: "close/written to", state: clean, ready: full2, do: closing, closes: true},
	{name: "close/nothing written", state: clean, do: closing, closes: true},
	{name: "close/after a kill", state: killed, do: closing, closes: true},
	{name: "close/read-only", state: killed, opts: mode(log.ReadOnly), do: closing, closes: true},
	{name: "close/readers had segments mapped", state: clean, ready: func(w *world) {
		full2(w)
		must1(viewOf(w.log))
	}, do: closing, closes: true},
}

func closing(w *world) (string, error) { return "", w.close() }

// full2 is full over two segments more.
func full2(w *world) {
	if w.log == nil {
		must(w.open())
	}
	for n := len(w.log.Segments()); len(w.log.Segments()) < n+2; {
		must1(w.log.Append(rec("k3", 400)))
	}
}

func init() {
	for i := range writes {
		switch s := &writes[i]; {
		case s.name == "append/the first, after a kill":
			s.state = killed
		case strings.HasPrefix(s.name, "append and sync"):
			ready := s.ready
			s.ready = func(w *world) {
				ready(w)
				w.appended = w.log.End()
			}
			s.again = syncOrAppendSync
		}
	}
}
