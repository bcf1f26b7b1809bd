package kafka

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/record"
)

// history has the engine write a log of n batches and markers, by chance, of
// what a replica of any broker might hold, all records with keys: every codec
// and timestamp type, gaps in the offsets, producers that begin new epochs,
// transactions with both kinds of markers, also of nothing.
func history(w *writer, seed uint64, n int) {
	random := rand.New(rand.NewPCG(seed, 3))
	producers := make([]record.Producer, 8) // the first four are transactional
	for i := range producers {
		producers[i] = record.Producer{ID: ids + int64(seed)<<16 + int64(i)}
	}
	records := func() []record.Record {
		list := w.records(1+random.IntN(12), random.IntN(160))
		for i := range list {
			list[i].Key = fmt.Appendf(nil, "key %d", int(random.ExpFloat64()*20))
			switch random.IntN(12) {
			case 0, 1:
				list[i].Value = nil
			case 2:
				list[i].Value = []byte{}
			case 3:
				list[i].Headers = []record.Header{{Key: "h", Value: []byte(strings.Repeat("h", random.IntN(40)))}, {Key: "null"}}
			case 4:
				list[i].Time = list[i].Time.Add(time.Duration(random.IntN(7200)-3600) * time.Second)
			}
		}
		return list
	}
	end := func(p *record.Producer) {
		outcome := []record.ControlType{record.ControlAbort, record.ControlCommit, record.ControlCommit}[random.IntN(3)]
		raised := random.IntN(2) == 0
		if raised {
			p.Epoch, p.Sequence = p.Epoch+1, 0
		}
		w.marker(*p, outcome)
	}
	for range n {
		o := record.BatchOptions{Codec: record.Codec(random.IntN(5))}
		if random.IntN(4) == 0 {
			w.tick(time.Second)
			o.TimestampType, o.AppendTime = record.LogAppendTime, time.UnixMilli(w.now)
		}
		gap := int64(0)
		if random.IntN(8) == 0 {
			gap = random.Int64N(30)
		}
		i := random.IntN(len(producers) + 3)
		if i >= len(producers) {
			w.leader(gap, o, records()...)
			continue
		}
		p := &producers[i]
		if len(w.open[p.ID]) == 0 && random.IntN(10) == 0 {
			if i < 4 {
				end(p) // of nothing
			} else {
				p.Epoch, p.Sequence = p.Epoch+1, 0
			}
		}
		list := records()
		own := *p
		o.Producer, o.Transactional = &own, i < 4
		w.leader(gap, o, list...)
		p.Sequence += int32(len(list))
		if i < 4 && random.IntN(3) == 0 {
			end(p)
		}
		if random.IntN(100) == 0 {
			w.reopen()
		}
	}
	for i := range producers[:4] {
		if len(w.open[producers[i].ID]) > 0 {
			end(&producers[i])
		}
	}
	require.NotEmpty(w.t, w.all)
}

// farApart has segments whose offsets are further apart than one segment can
// tell.
func farApart(w *writer) {
	for i, gap := range []int64{0, 1 << 20, 1<<31 - 5000, 7, 1 << 30, 1 << 30, 1 << 30, 3} {
		list := w.records(20, 900)
		for j := range list {
			list[j].Key = fmt.Appendf(nil, "key %d", (i*j)%13)
			if j%5 == 0 {
				list[j].Value = nil
			}
			w.leader(gap, record.BatchOptions{}, list[j])
			gap = 0
		}
	}
}
