package rot

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention/compact"
)

var ctx = context.Background()

// The directory of a manager, in which each variety has one log.
const dataDir = "/data"

// epoch0 is where the clock stands.
var epoch0 = time.UnixMilli(1_700_000_000_000).UTC()

func (v *variety) options(fsys vfs.FS) log.Options {
	o := log.Options{SegmentBytes: v.bytes, IndexInterval: 100, MappedSegments: 2,
		Env: log.Env{FS: fsys, Now: func() time.Time { return epoch0.Add(time.Hour) }}}
	if strings.HasPrefix(v.name, "compact") {
		o.Compaction = &compact.Options{MinDirtyRatio: 0.01, MapBytes: 1 << 12}
	}
	return o
}

// variety is a log of some kind. fill is called with the log open; it writes the
// first part, calls durable, and writes the rest, so that a log that is killed
// has segments on both sides of its recovery point.
type variety struct {
	name  string
	bytes int64 // of a segment
	fill  func(t testing.TB, w *writer)
}

var varieties = []variety{
	{"plain-0", 700, fillPlain},
	{"txn-0", 700, fillTxn},
	{"compact-0", 700, fillCompact},
	{"long-0", 8000, fillLong},
}

// writer appends to the log of a variety.
type writer struct {
	l       *log.Log
	durable func()
	n       int // records made
}

// record is the next record: no two are alike.
func (w *writer) record(size int) record.Record {
	w.n++
	return record.Record{
		Key:   fmt.Appendf(nil, "key-%d", w.n),
		Value: fmt.Appendf(nil, "value-%d-%s", w.n, strings.Repeat("v", size)),
		// Mostly ascending, so that the time index has entries and has to be careful.
		Time: epoch0.Add(time.Duration(w.n)*time.Second - time.Duration(w.n%4)*700*time.Millisecond),
	}
}

// fillPlain is batches of each codec, in two leader epochs, of a client and of
// an idempotent producer; its first records were dropped.
func fillPlain(t testing.TB, w *writer) {
	sequence := int32(0)
	part := func(rounds int) {
		for i := range rounds {
			for _, codec := range []record.Codec{record.None, record.Gzip, record.Snappy, record.LZ4, record.Zstd} {
				var b record.Builder
				o := record.BatchOptions{Codec: codec}
				count := 1 + (i+int(codec))%3
				if codec == record.None && i%2 == 0 {
					o.Producer = &record.Producer{ID: 9, Sequence: sequence}
					sequence += int32(count)
				}
				b.Reset(o)
				for j := range count {
					r := w.record(i % 3 * 9)
					if j == 1 {
						r.Headers = []record.Header{{Key: "trace", Value: []byte("on")}, {Key: "null"}}
					}
					require.NoError(t, b.Add(&r))
				}
				raw, err := b.Build()
				require.NoError(t, err)
				_, err = w.l.AppendBatch(raw, log.FromClient)
				require.NoError(t, err)
			}
		}
	}
	part(1)
	require.NoError(t, w.l.DropBefore(3))
	require.NoError(t, w.l.SetLeaderEpoch(4))
	part(1)
	w.durable()
	part(1)
	require.NoError(t, w.l.SetLeaderEpoch(6))
	part(1)
	batch(t, w, 2)
}

func batch(t testing.TB, w *writer, n int) {
	t.Helper()
	var list []record.Record
	for range n {
		list = append(list, w.record(5))
	}
	_, err := w.l.Append(list...)
	require.NoError(t, err)
}

// fillTxn is transactions of three producers: aborted, committed and, at the
// end, open.
func fillTxn(t testing.TB, w *writer) {
	sequences := map[int64]int32{}
	send := func(id int64, n int) {
		var b record.Builder
		b.Reset(record.BatchOptions{Producer: &record.Producer{ID: id, Sequence: sequences[id]}, Transactional: true})
		sequences[id] += int32(n)
		for range n {
			r := w.record(3)
			require.NoError(t, b.Add(&r))
		}
		raw, err := b.Build()
		require.NoError(t, err)
		_, err = w.l.AppendBatch(raw, log.FromClient)
		require.NoError(t, err)
	}
	end := func(id int64, commit bool) {
		_, err := w.l.EndTransaction(log.EndTxn{ProducerID: id, Commit: commit, CoordinatorEpoch: 3})
		require.NoError(t, err)
	}
	part := func() {
		send(1, 2)
		send(2, 1)
		end(1, false)
		batch(t, w, 1)
		send(1, 1)
		end(2, true)
		send(3, 2)
		end(3, false)
		end(1, true)
	}
	part()
	part()
	w.durable()
	part()
	send(2, 1)
	batch(t, w, 1)
}

// fillCompact is a log whose older segments were compacted: keys superseded,
// tombstones, and offsets without records within segments and between them.
func fillCompact(t testing.TB, w *writer) {
	put := func(key string, n int) {
		r := w.record(n)
		r.Key = []byte(key)
		if n == 0 {
			r.Value = nil
		}
		_, err := w.l.Append(r)
		require.NoError(t, err)
	}
	for i := range 24 {
		switch {
		case i%4 == 1:
			put(fmt.Sprintf("once-%d", i), 3)
		case i%7 == 6:
			put(fmt.Sprintf("twice-%d", i%3), 0)
		default:
			put(fmt.Sprintf("twice-%d", i%3), 4)
		}
	}
	batch(t, w, 3)
	w.durable()
	_, err := w.l.Compact(ctx)
	require.NoError(t, err)
	for i := range 6 {
		put(fmt.Sprintf("twice-%d", i%3), 2)
	}
}

// fillLong has few and large batches, so that its time indexes have entries.
func fillLong(t testing.TB, w *writer) {
	part := func() {
		for range 6 {
			r := w.record(1200 + w.n)
			_, err := w.l.Append(r)
			require.NoError(t, err)
		}
	}
	part()
	w.durable()
	part()
	batch(t, w, 1)
}

// state is how a directory is left before bits of it are lost.
type state string

const (
	closed  state = "closed"  // by the manager, cleanly
	killed  state = "killed"  // the process was, with the machine running on
	foreign state = "foreign" // closed, and our checkpoint is not there: as another program leaves it
)

// built is a directory in some state, to be copied, and what its log holds.
type built struct {
	variety
	state state
	mem   *vfs.Mem
	want  content
}

func (b *built) dir() string { return filepath.Join(dataDir, b.name) }

// copy is the same files, in no process's hands.
func (b *built) copy() *vfs.Mem { return b.mem.Kill() }

func build(t testing.TB, v variety, s state) *built {
	t.Helper()
	mem := vfs.NewMem()
	m, err := log.OpenManager(ctx, dataDir, log.ManagerOptions{Log: v.options(mem)})
	require.NoError(t, err)
	l, err := m.Create(ctx, v.name, log.TopicID{1, 2, 3})
	require.NoError(t, err)
	w := &writer{l: l, durable: func() { require.NoError(t, m.Checkpoint(ctx)) }}
	v.fill(t, w)
	require.NoError(t, vfs.WriteFile(mem, filepath.Join(dataDir, "meta.properties"), []byte("version=1\nnode.id=1\ncluster.id=AAAAAAAAAAAAAAAAAAAAAA\n")))
	b := &built{variety: v, state: s, mem: mem}
	b.want = contentOf(t, l)
	require.NotEmpty(t, b.want.records)
	if s == killed {
		b.mem = mem.Kill()
		return b
	}
	require.NoError(t, m.Close())
	// Seals are computed by the first checkpoint after a roll.
	again, err := log.Open(ctx, b.dir(), v.options(mem))
	require.NoError(t, err)
	require.NoError(t, again.Checkpoint(ctx))
	require.NoError(t, again.Close())
	if s == foreign {
		require.NoError(t, mem.Remove(filepath.Join(b.dir(), "seglog.checkpoint")))
	}
	b.mem = mem.Kill()
	return b
}

// files lists the files of a log's directory, or of the manager's.
func files(t testing.TB, fsys vfs.FS, dir string) map[string][]byte {
	t.Helper()
	entries, err := fsys.ReadDir(dir)
	require.NoError(t, err)
	all := make(map[string][]byte)
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		b, err := vfs.ReadFile(fsys, filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		all[e.Name()] = b
	}
	return all
}
