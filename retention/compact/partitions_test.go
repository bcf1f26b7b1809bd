package compact

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// content is every file of a disk.
func (d *disk) content() map[string]string {
	d.t.Helper()
	files := make(map[string]string)
	entries, err := d.cfg.FS.ReadDir(d.cfg.Dir)
	require.NoError(d.t, err)
	for _, e := range entries {
		b, err := vfs.ReadFile(d.cfg.FS, filepath.Join(d.cfg.Dir, e.Name()))
		require.NoError(d.t, err)
		files[e.Name()] = string(b)
	}
	return files
}

// history is a log of several cleanings, to be made more than once.
type history []func(d *disk)

func drawHistory(t *rapid.T, b testing.TB) (h history) {
	end := int64(0)
	var aborted []index.AbortedTxn
	for range rapid.IntRange(1, 4).Draw(t, "cleanings") {
		for range rapid.IntRange(1, 4).Draw(t, "segments") {
			var batches [][]byte
			add := func(raw []byte, n int) {
				batches = append(batches, raw)
				end += int64(n)
			}
			for range rapid.IntRange(1, 6).Draw(t, "batches") {
				var records []record.Record
				for range rapid.IntRange(1, 40).Draw(t, "records") {
					r := kv(fmt.Sprint("key ", rapid.IntRange(0, 300).Draw(t, "key")), "")
					switch rapid.IntRange(0, 9).Draw(t, "value") {
					case 0:
					case 1:
						r.Key = nil
					default:
						r.Value = []byte("v")
					}
					records = append(records, r)
				}
				o := record.BatchOptions{Codec: record.Codec(rapid.SampledFrom([]int{0, 0, 3}).Draw(t, "codec"))}
				kind := rapid.IntRange(0, 5).Draw(t, "txn")
				if kind > 1 {
					add(encode(b, o, records...), len(records))
					continue
				}
				id, first := int64(rapid.IntRange(1, 3).Draw(t, "producer")), end
				o.Transactional, o.Producer = true, &record.Producer{ID: id}
				add(encode(b, o, records...), len(records))
				if kind == 0 {
					aborted = append(aborted, index.AbortedTxn{ProducerID: id, First: first, Last: end})
					add(marker(b, id, record.ControlAbort), 1)
				} else {
					add(marker(b, id, record.ControlCommit), 1)
				}
			}
			h = append(h, func(d *disk) { d.add(batches...) })
		}
		now, known := aborted, rapid.Int64Range(0, 90).Draw(t, "minutes")
		h = append(h, func(d *disk) {
			d.now, d.aborted, d.seen = d.now.Add(time.Duration(known)*time.Minute), now, nil
			d.cleanNext()
		})
	}
	return h
}

// replay makes a disk of the history, cleaned with those options.
func (h history) replay(t testing.TB, o Options, spill bool, hash func([]byte) uint64) *disk {
	d := newDisk(t, vfs.NewMem(), "d", 8<<10)
	d.options, d.spill, d.hash = o, spill, hash
	for _, step := range h {
		step(d)
	}
	return d
}

// TestPartitions: a log is cleaned to the same bytes whether all its keys fit
// the map or they are written to partitions, which may have more keys than the
// map has room for, and keys of one hash.
func TestPartitions(t *testing.T) {
	spilled := int64(0)
	rapid.Check(t, func(rt *rapid.T) {
		h := drawHistory(rt, t)
		large := h.replay(t, Options{DeleteRetention: time.Hour}, false, nil)
		hashes := rapid.SampledFrom([]uint64{1, 7, partitionCount, 1 << 40}).Draw(rt, "hashes")
		small := h.replay(t, Options{DeleteRetention: time.Hour, MapBytes: minMapBytes}, true,
			func(key []byte) uint64 { return xxhash.Sum64(key) % hashes })
		require.Zero(t, large.total.Spilled)
		require.Zero(t, small.total.Collisions)
		require.Equal(t, large.total.Dropped, small.total.Dropped)
		require.True(t, maps.Equal(large.content(), small.content()))
		spilled += small.total.Spilled
	})
	require.Positive(t, spilled)
}

// TestMemoryBound: a map of 64 KiB cleans a log of a hundred times the keys it
// has room for, in one round, with memory of the map and buffers.
func TestMemoryBound(t *testing.T) {
	const keys, mapBytes = 250_000, 64 << 10
	d := newDisk(t, vfs.OS, t.TempDir(), 8<<20)
	for from := 0; from < 2*keys; from += 50_000 { // each key twice
		var batches [][]byte
		for at := from; at < from+50_000; at += 500 {
			var records []record.Record
			for i := at; i < at+500; i++ {
				records = append(records, kv(fmt.Sprint("key-", i%keys), "v"))
			}
			batches = append(batches, plain(t, records...))
		}
		d.add(batches...)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := d.round(0, Options{MapBytes: mapBytes}).Run(t.Context())
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(mapBytes+16<<20), "of it partitions have 4 MiB")
	require.Equal(t, d.end, r.MappedTo)
	require.EqualValues(t, keys, r.Dropped)
	require.Positive(t, r.Spilled)
	for i, x := range d.records() {
		require.EqualValues(t, keys+i, x.Offset)
	}
	require.Len(t, d.content(), 3*len(d.segments))
}

// TestSpillFails: where a file for keys cannot be made, written, mapped or taken
// up, the cleaning goes on in rounds, and the next round does not try again.
func TestSpillFails(t *testing.T) {
	for _, file := range []string{partitionsName, marksName} {
		for _, op := range (vfs.OpCreate | vfs.OpWriteAt | vfs.OpAllocate | vfs.OpMap).Ops() {
			for _, cause := range []error{syscall.ENOSPC, syscall.EIO} {
				faulty := vfs.NewFaulty(vfs.NewMem())
				d := newDisk(t, faulty, "d", 64<<10)
				for i := range 10 {
					var records []record.Record
					for k := range 50 {
						records = append(records, kv(fmt.Sprint(i/2, "-", k), strings.Repeat("v", 10)))
					}
					d.add(plain(t, records...))
				}
				rule := faulty.Add(vfs.Rule{Op: op, Path: file, Err: cause})
				r := d.clean(0, Options{MapBytes: minMapBytes})
				if rule.Matched() == 0 { // partitions are not allocated, marks not written
					require.False(t, r.NoSpill)
					continue
				}
				require.Equal(t, 1, rule.Failed(), "%s %s", op, file)
				require.True(t, r.NoSpill)
				require.Greater(t, r.Rounds, 3)
				require.EqualValues(t, 250, r.Dropped)
				require.Len(t, d.records(), 250)
				require.Len(t, d.content(), 3*len(d.segments))
			}
		}
	}
}

// TestMapTooSmall: where the keys of one batch fit neither the map nor a file,
// there is no way on.
func TestMapTooSmall(t *testing.T) {
	faulty := vfs.NewFaulty(vfs.NewMem())
	d := newDisk(t, faulty, "d", 64<<10)
	var records []record.Record
	for i := range 100 {
		records = append(records, kv(fmt.Sprint(i), "v"))
	}
	d.add(plain(t, records...))
	faulty.Add(vfs.Rule{Op: vfs.OpWriteAt, Path: partitionsName, Err: syscall.ENOSPC})
	_, err := d.round(0, Options{MapBytes: minMapBytes}).Run(context.Background())
	require.ErrorIs(t, err, ErrMapTooSmall)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Len(t, d.content(), 3)
}

// TestEntries: a partition gives back what was added to it, in order, from any
// place on.
func TestEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := newPartitions(vfs.NewMem(), ".")
		require.NoError(t, err)
		type entry struct {
			ordinal int64
			key     string
		}
		var want [2][]entry
		ordinal := int64(0)
		for range rapid.IntRange(0, 200).Draw(t, "entries") {
			ordinal += rapid.Int64Range(0, 1<<40).Draw(t, "gap")
			key := strings.Repeat("k", rapid.SampledFrom([]int{0, 1, 200, blockBytes, 2 * blockBytes}).Draw(t, "length"))
			hash := rapid.Uint64Range(0, 1).Draw(t, "hash")
			require.NoError(t, p.add(hash|1<<60, ordinal, appendKey(nil, key)))
			want[hash] = append(want[hash], entry{ordinal, key})
			ordinal++
		}
		require.NoError(t, p.seal())
		for i, list := range want {
			part := &p.list[i]
			require.EqualValues(t, len(list), part.entries)
			from := rapid.IntRange(0, len(list)).Draw(t, "from")
			e := p.entriesOf(part).after(from)
			for _, w := range list[from:] {
				ordinal, at, ok := e.next()
				require.True(t, ok)
				require.Equal(t, w, entry{ordinal, string(e.keyAt(at))})
			}
			_, _, ok := e.next()
			require.False(t, ok)
		}
		require.NoError(t, p.remove())
	})
}
