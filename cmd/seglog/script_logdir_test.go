package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// logdir DIR writes a broker's log directory: plain-0 and plain-1 with three
// records each, txn-0 with an aborted and an open transaction, groups-0 as
// __consumer_offsets-0, and a future copy.
func logdir(ts *testscript.TestScript, _ bool, args []string) {
	ctx, dir := context.Background(), ts.MkAbs(args[0])
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	clock := log.Env{Now: func() time.Time { return noon.Add(time.Minute) }}
	m, err := log.OpenManager(ctx, dir, log.ManagerOptions{Log: log.Options{Env: clock}})
	ts.Check(err)
	create := func(name string) *log.Log {
		l, err := m.Create(ctx, name, log.TopicID{1})
		ts.Check(err)
		return l
	}
	at := noon
	now := func() time.Time {
		at = at.Add(time.Second)
		return at
	}
	for _, name := range []string{"plain-0", "plain-1", "moving-3"} {
		l := create(name)
		for i := range 3 {
			_, err := l.Append(record.Record{Time: now(), Key: []byte("key"), Value: fmt.Appendf(nil, "%s %d", name, i)})
			ts.Check(err)
		}
	}
	txn := create("txn-0")
	for id := range int64(2) {
		var b record.Builder
		b.Reset(record.BatchOptions{Transactional: true, Producer: &record.Producer{ID: 7 + id}})
		ts.Check(b.Add(&record.Record{Time: now(), Value: []byte("x")}))
		raw, err := b.Build()
		ts.Check(err)
		_, err = txn.AppendBatch(raw, log.FromClient)
		ts.Check(err)
	}
	_, err = txn.EndTransaction(log.EndTxn{ProducerID: 7, CoordinatorEpoch: 2})
	ts.Check(err)
	groups := create("__consumer_offsets-0")
	_, err = groups.Append(
		record.Record{Time: now(), Key: []byte("\x00\x01\x00\x01g\x00\x05plain\x00\x00\x00\x01"),
			Value: []byte("\x00\x03\x00\x00\x00\x00\x00\x00\x00\x02\xff\xff\xff\xff\x00\x00\x00\x00\x01\x9c\x13\x7d\xc0\x00")},
		record.Record{Time: now(), Key: []byte("\x00\x02\x00\x01g")},
		record.Record{Time: now(), Key: []byte("\x00\x63?"), Value: []byte("of a later version")})
	ts.Check(err)
	ts.Check(m.Close())
	ts.Check(os.Rename(filepath.Join(dir, "moving-3"), filepath.Join(dir, "moving-3.f805302a12734e33ac1d7e0c1307c059-future")))
	ts.Check(os.WriteFile(filepath.Join(dir, "meta.properties"), []byte("version=1\nnode.id=4\ncluster.id=y9LMube6SyK9FMVPH2wQVg\n"), 0o644))
	ts.Check(os.Mkdir(filepath.Join(dir, "lost+found"), 0o755))
}

// producers DIR N writes a log with a record of each of N producers, every
// second one in a transaction that is open.
func producers(ts *testscript.TestScript, _ bool, args []string) {
	l, err := log.Open(context.Background(), ts.MkAbs(args[0]), log.Options{})
	ts.Check(err)
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	for i := range int64(n) {
		var b record.Builder
		b.Reset(record.BatchOptions{Transactional: i%2 == 1, Producer: &record.Producer{ID: 1000 + i, Epoch: 3}})
		ts.Check(b.Add(&record.Record{Time: time.Now(), Value: []byte("x")})) // or they would have expired
		raw, err := b.Build()
		ts.Check(err)
		_, err = l.AppendBatch(raw, log.FromClient)
		ts.Check(err)
	}
	ts.Check(l.Close())
}

// epochs DIR N writes a log of N batches, each of another leader.
func epochs(ts *testscript.TestScript, _ bool, args []string) {
	l, err := log.Open(context.Background(), ts.MkAbs(args[0]), log.Options{})
	ts.Check(err)
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	for i := range n {
		var b record.Builder
		b.Reset(record.BatchOptions{BaseOffset: int64(i), LeaderEpoch: int32(2 * i)})
		ts.Check(b.Add(&record.Record{Value: []byte("x"), Time: time.UnixMilli(1_769_860_800_000)}))
		raw, err := b.Build()
		ts.Check(err)
		_, err = l.AppendBatch(raw, log.FromLeader)
		ts.Check(err)
	}
	ts.Check(l.Close())
}
