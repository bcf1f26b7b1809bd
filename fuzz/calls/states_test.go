package calls

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/retention/compact"
	"github.com/seglog/seglog/segment"
)

// A state is what an operation begins with: what is stored. It is made once.
type state func() *vfs.Mem

func stateOf(build func() *vfs.Mem) state { return sync.OnceValue(build) }

// live is a log of several segments that is open, with the state of producers
// of all kinds: some whose batches are dropped, a transaction of each outcome,
// leader epochs; and records that are not durable.
func live(o log.Options) *world {
	w := newWorld(vfs.NewMem(), o)
	must(w.open())
	l := w.log
	n := 0
	plain := func(count int) {
		for range count {
			n++
			must1(l.Append(rec(fmt.Sprint("k", n%5), n)))
		}
	}
	must(l.SetLeaderEpoch(1))
	must1(send(l, 5, 0, false, rec("p", 1)))
	must1(send(l, 5, 1, false, rec("p", 2)))
	must1(send(l, 7, 0, true, rec("t", 3)))
	must1(l.EndTransaction(log.EndTxn{ProducerID: 7}))
	plain(8)
	must(l.SetLeaderEpoch(2))
	must1(send(l, 7, 1, true, rec("t", 4)))
	plain(6)
	must1(l.EndTransaction(log.EndTxn{ProducerID: 7, Commit: true}))
	must1(send(l, 8, 0, true, rec("t", 5)))
	must1(l.EndTransaction(log.EndTxn{ProducerID: 8}))
	plain(8)
	must(l.Sync(ctx))
	must(l.DropBefore(10)) // the batches of 5 and the first of 7
	plain(8)
	must1(l.AppendSync(ctx, rec("k0", 99)))
	must1(send(l, 6, 0, true, rec("t", 6))) // and this one stays open
	plain(2)
	return w
}

// newest is the newest segment's log.
func newest(l *log.Log) log.SegmentInfo {
	s := l.Segments()
	return s[len(s)-1]
}

var (
	// nothing is a disk without the directory.
	nothing = stateOf(vfs.NewMem)

	clean = stateOf(func() *vfs.Mem {
		w := live(small())
		must(w.close())
		return w.mem
	})

	killed = stateOf(func() *vfs.Mem { return live(small()).mem.Kill() })

	// torn ends in half a batch.
	torn = stateOf(func() *vfs.Mem {
		w := live(small())
		must(w.log.Checkpoint(ctx))
		s := newest(w.log)
		m := w.mem.Kill().Crash(1) // nothing is torn while the machine runs on
		poke(m, s.Path, s.Bytes, encodeAt(s.Next)[:70])
		return m
	})

	// dropping was killed in the middle of DropFrom.
	dropping = stateOf(func() *vfs.Mem {
		w := live(small())
		w.fs.Add(vfs.Rule{Op: vfs.OpRemove, Path: "*.log", After: 1, Err: syscall.EIO})
		if err := w.log.DropFrom(w.log.First() + 3); err == nil {
			panic("DropFrom did not stop")
		}
		return w.mem.Kill()
	})

	// trimmed was killed before what DropBefore dropped was unlinked.
	trimmed = stateOf(func() *vfs.Mem {
		w := live(small())
		w.fs.Add(vfs.Rule{Op: vfs.OpRemove, Err: syscall.EIO})
		if err := w.log.DropBefore(w.log.End() - 4); err == nil {
			panic("DropBefore did not stop")
		}
		return w.mem.Kill()
	})

	// replacing was killed when a compacted segment had begun to count.
	replacing = stateOf(func() *vfs.Mem { return compactUntil("*.swap", 1) })
	// replaced was killed before all files of one counted.
	unreplaced = stateOf(func() *vfs.Mem { return compactUntil("*.cleaned", 1) })

	// littered has files of no use.
	littered = stateOf(func() *vfs.Mem {
		m := killed().Fork()
		for _, name := range []string{
			segment.Name(3, ".log.deleted"), segment.Name(3, ".index.deleted"), segment.Name(70, ".index"),
			segment.Name(70, ".txnindex"), segment.Name(900, ".snapshot"), "seglog.checkpoint.tmp",
			segment.Name(20, ".index.tmp"), segment.Name(20, ".log.cleaned"),
		} {
			must(vfs.WriteFile(m, filepath.Join(dir, name), []byte("leftover")))
		}
		return m
	})

	// unindexed lost all of its derived files.
	unindexed = stateOf(func() *vfs.Mem {
		m := clean().Fork()
		remove(m, dir, ".index", ".timeindex", ".txnindex", ".snapshot")
		return m
	})

	// kafkas is as a broker leaves it: without our files, and with a log start
	// noted above, in the middle of a segment.
	kafkas = stateOf(func() *vfs.Mem {
		m := clean().Fork()
		remove(m, dir, recovery.CheckpointName, log.LockName)
		must(kafkadir.WriteOffsets(m, top, kafkadir.LogStartFile, kafkadir.Offsets{"topic-0": 12}))
		return m
	})

	// followed has a high watermark below the end, and no epochs.
	followed = stateOf(func() *vfs.Mem {
		o := small()
		o.Mode = log.Follower
		w := newWorld(vfs.NewMem(), o)
		must(w.open())
		for i := range 20 {
			must1(w.log.AppendBatch(encodeEpochless(int64(i)), log.FromLeader))
		}
		must(w.log.SetHighWatermark(11))
		must(w.log.Checkpoint(ctx))
		must1(w.log.AppendBatch(encodeEpochless(20), log.FromLeader))
		return w.mem.Kill()
	})

	// damaged has a flipped bit in a sealed segment.
	damaged = stateOf(func() *vfs.Mem {
		w := live(small())
		s := w.log.Segments()[1]
		must(w.close())
		poke(w.mem, s.Path, s.Bytes/2, []byte{0xff, 0xff, 0xff})
		return w.mem
	})

	// large takes batches that are written, not stored.
	large = stateOf(func() *vfs.Mem {
		w := newWorld(vfs.NewMem(), big())
		must(w.open())
		must1(w.log.AppendSync(ctx, rec("k", 1)))
		must(w.close())
		return w.mem
	})
)

func big() log.Options {
	o := small()
	o.SegmentBytes = 400 << 10
	return o
}

// compactUntil compacts until the nth rename of a file of that name fails.
func compactUntil(pattern string, nth int) *vfs.Mem {
	o := small()
	o.Compaction = &compact.Options{}
	w := live(o)
	w.fs.Add(vfs.Rule{Op: vfs.OpRename, Path: pattern, After: nth, Err: syscall.EIO})
	w.fs.Add(vfs.Rule{Op: vfs.OpRemove, Path: "*.cleaned", Err: syscall.EIO})
	w.fs.Add(vfs.Rule{Op: vfs.OpRemove, Path: "*.swap", Err: syscall.EIO})
	if _, err := w.log.Compact(ctx); err == nil {
		panic("Compact did not stop")
	}
	return w.mem.Kill()
}

func batchAt(offset int64, epoch int32) record.BatchOptions {
	return record.BatchOptions{BaseOffset: offset, LeaderEpoch: epoch}
}

func encodeAt(offset int64) []byte {
	return encode(batchAt(offset, 3), rec("k", 1))
}

func encodeEpochless(offset int64) []byte {
	return encode(batchAt(offset, -1), rec("k", int(offset)))
}

// poke writes into a file.
func poke(m *vfs.Mem, name string, at int64, b []byte) {
	f := must1(m.OpenFile(name, os.O_RDWR, 0))
	must1(f.WriteAt(b, at))
	must(f.Sync())
	must(f.Close())
}

// remove unlinks the files whose names end so.
func remove(m *vfs.Mem, dir string, suffixes ...string) {
	for _, e := range must1(m.ReadDir(dir)) {
		for _, s := range suffixes {
			if strings.HasSuffix(e.Name(), s) {
				must(m.Remove(filepath.Join(dir, e.Name())))
			}
		}
	}
	must(m.SyncDir(dir))
}
