package recovery_test

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

// TestKilledInABatch: whatever of a batch a killed process had copied before its
// length, which comes last, is cut, and that is no damage. What it holds may look
// like batches, and it may be at offset 0.
func TestKilledInABatch(t *testing.T) {
	for _, n := range []int{0, 1, 7} {
		for name, part := range map[string]func(b []byte){
			"no records":     func(b []byte) { clear(b[61:]) },
			"half of it":     func(b []byte) { clear(b[len(b)/2:]) },
			"the other half": func(b []byte) { clear(b[:len(b)/2]) },
			"all of it":      func([]byte) {},
		} {
			t.Run(name, func(t *testing.T) {
				m, infos := killed(t, n)
				if n == 0 { // the first append writes one before it copies anything
					require.NoError(t, mustOpen(t, options(m)).Checkpoint(t.Context()))
					m = m.Kill()
				}
				last := infos[len(infos)-1]
				var b record.Builder
				b.Reset(record.BatchOptions{})
				for range 2 {
					inside := append(batch(t, last.Next+2, 1), batch(t, last.Next+3, 1)...)
					require.NoError(t, b.Add(&record.Record{Value: append(inside, batch(t, last.Next+4, 1)...)}))
				}
				more, err := b.Build()
				require.NoError(t, err)
				part(more)
				clear(more[8:12])
				whole := content(t, m, logName(last.Base))[:last.Bytes]
				put(t, m, logName(last.Base), append(append(whole, more...), make([]byte, 300)...))
				recovers(t, m, options(m), span(0, last.Next))
			})
		}
	}
}

// TestPitfallT16EveryBitKilled: with the machine running on, nothing that was
// appended can be torn, so each flipped bit is reported, beyond the recovery point
// too. What passes is the leader epoch, and of the last batch a base offset that is
// raised, and a length that one bit makes zero: then it looks as if it had not been
// stored yet.
func TestPitfallT16EveryBitKilled(t *testing.T) {
	m, infos := killed(t, 14)
	want := span(0, infos[len(infos)-1].Next)
	unseen := 0
	for s, info := range infos {
		name := logName(info.Base)
		sound := content(t, m, name)
		all := batches(t, sound[:info.Bytes])
		file, err := m.OpenFile(filepath.Join(dir, name), os.O_RDWR, 0)
		require.NoError(t, err)
		for bit := range int(info.Bytes) * 8 {
			if testing.Short() && bit%7 != 0 { // each byte, one bit of it or two
				continue
			}
			pos := int64(bit / 8)
			_, err := file.WriteAt([]byte{sound[pos] ^ 1<<(bit%8)}, pos)
			require.NoError(t, err)
			r := inspect(t, m, recovery.Options{})
			in := batchAt(all, int(pos))
			field := int(pos) - in.from
			last := s == len(infos)-1 && in.to == int(info.Bytes)
			switch {
			case field >= 12 && field < 16: // the leader epoch
				require.Empty(t, r.Damage)
				require.Equal(t, want[len(want)-1]+1, r.End)
			case last && field >= 8 && field < 12 && binary.BigEndian.Uint32(content(t, m, name)[in.from+8:]) == 0:
				require.Equal(t, 1, bits.OnesCount32(uint32(in.to-in.from-12)))
				unseen++
			case last && field < 8 && len(r.Damage) == 0:
				require.NotEqual(t, want[len(want)-1]+1, r.End, "a raised base offset")
				unseen++
			default:
				require.Len(t, r.Damage, 1, "bit %d of %s", bit, name)
				require.ErrorIs(t, r.Err(), record.ErrCorrupt)
				if field < 23 || field >= 27 && field < 57 { // not where it says how many there are
					require.Equal(t, want[len(want)-1]+1, r.End, "bit %d of %s", bit, name)
				}
				if bit%37 == 0 {
					meets(t, m, want)
				}
			}
			_, err = file.WriteAt(sound[pos:pos+1], pos)
			require.NoError(t, err)
		}
	}
	require.LessOrEqual(t, unseen, 64)
}

// meets wants a log opened read-only to give all records but those that damage
// covers.
func meets(t *testing.T, m vfs.FS, want []int64) {
	t.Helper()
	l := mustOpen(t, reading(options(m)))
	got, damage := readable(t, l)
	require.NotEmpty(t, damage)
	for _, err := range damage {
		var d *log.DamageError
		require.ErrorAs(t, err, &d)
		next := d.Next
		if next < 0 {
			next = l.End()
			for _, s := range l.Segments() {
				if s.Base > d.Segment {
					next = min(next, s.Base)
				}
			}
		}
		want = without(want, d.Offset, next)
	}
	require.Equal(t, want, got, "%v", damage)
	for offset := int64(0); offset < l.End(); offset++ {
		if _, err := l.Read(offset); err != nil {
			require.ErrorIs(t, err, record.ErrCorrupt, "offset %d", offset)
		}
	}
	require.NoError(t, l.Close())
}

// TestReadOnlyMeetsDamage: a log that damage keeps from opening for writing is
// read around it; nothing is missing without an error, wherever the damage is.
func TestReadOnlyMeetsDamage(t *testing.T) {
	for name, make := range map[string]func(*testing.T, *vfs.Mem, []info) (int64, [2]int64){
		"newest, last batch":      flip(-1, -1),
		"newest, not the last":    flip(-1, 0),
		"newest, cut short":       shorten(-1, 5),
		"older, first batch":      flip(2, 0),
		"older, last batch":       flip(2, -1),
		"older, cut short":        shorten(2, 5),
		"older, zeros":            blank(2, 0),
		"older, zeros at the end": blank(2, 1),
		"a missing segment":       vanish(2),
	} {
		for kind, from := range map[string]func(testing.TB, int) (*vfs.Mem, []info){"closed": closed, "foreign": foreign, "killed": killed} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				m, infos := from(t, 50)
				if kind == "foreign" && (name == "a missing segment" || name == "newest, last batch" || name == "newest, cut short") {
					return // nobody can tell, or it may be torn
				}
				make(t, m, infos)
				meets(t, m, span(0, infos[len(infos)-1].Next))
			})
		}
	}
}

// TestCopyOfAKilledLog: a copy may have been made while the log was written to,
// so its end may be torn wherever the machine is.
func TestCopyOfAKilledLog(t *testing.T) {
	m, infos := killed(t, 20)
	last := infos[len(infos)-1]
	tear, _ := flip(-1, -1)(t, m, infos)
	refuses(t, m, logName(last.Base), -1)
	c := copyOf(t, m)
	recovers(t, c, options(c), span(0, tear))
}

// TestIndexIsAWitness: zeros where several entries of the index lead are lost
// batches, if the machine has been running; a single entry is not believed.
func TestIndexIsAWitness(t *testing.T) {
	for bit := range 8 * 8 {
		m, infos := killed(t, 40)
		last := infos[len(infos)-1]
		index := segment.Name(last.Base, segment.IndexSuffix)
		entries := content(t, m, index)
		n := 0
		for binary.BigEndian.Uint64(entries[8*n:]) != 0 {
			n++
		}
		require.Greater(t, n, 2)
		entries[8*(n-1)+bit/8] ^= 1 << (bit % 8)
		put(t, m, index, entries)
		recovers(t, m, options(m), span(0, last.Next))
	}
	m, infos := killed(t, 40)
	_, lost := blank(-1, 1)(t, m, infos)
	end := infos[len(infos)-1].Next
	d := refuses(t, m, logName(infos[len(infos)-1].Base), -1)
	require.Equal(t, lost[0], d.Offset)
	require.ErrorContains(t, d, "offset index")
	m = recovers(t, m, repairing(options(m)), span(0, lost[0]))
	l := mustOpen(t, options(m))
	_, err := l.Read(lost[0])
	require.ErrorIs(t, err, log.ErrNoRecord, "offsets that were given out, up to %d, are not given out again", end)
	require.NoError(t, l.Close())
}

// TestRefreshMeetsDamage: a reader beside a writer passes over damage in what it
// had not seen yet, with an error, and sees what follows.
func TestRefreshMeetsDamage(t *testing.T) {
	m := vfs.NewMem()
	o := options(m)
	o.SegmentBytes = 10_000
	l := mustOpen(t, o)
	fill(t, l, 3)
	reader := mustOpen(t, reading(o))
	seen := reader.End()
	from := l.Stats().Bytes
	fill(t, l, 3)
	hit := from + 30
	file, err := m.OpenFile(filepath.Join(dir, logName(0)), os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = file.WriteAt([]byte{0xee}, hit)
	require.NoError(t, err)
	require.NoError(t, reader.Refresh(t.Context()))
	require.Equal(t, l.End(), reader.End())
	got, damage := readable(t, reader)
	require.Equal(t, without(span(0, l.End()), seen, seen+1), got)
	require.Len(t, damage, 1)
	var d *log.DamageError
	require.ErrorAs(t, damage[0], &d)
	require.Equal(t, []int64{from, seen, seen + 1}, []int64{d.Position, d.Offset, d.Next})
	require.NoError(t, reader.Close())
	require.NoError(t, l.Close())
}

// TestRepairGivesNoOffsetTwice: where damage at the end is cut out, the log goes
// on behind the offsets that were lost, as far as anything tells which these are.
func TestRepairGivesNoOffsetTwice(t *testing.T) {
	for name, c := range map[string]struct {
		from func(testing.TB, int) (*vfs.Mem, []info)
		make func(*testing.T, *vfs.Mem, []info) (int64, [2]int64)
	}{
		"killed, the last batch":  {killed, flip(-1, -1)},
		"closed, the last batch":  {closed, flip(-1, -1)},
		"closed, cut short":       {closed, shorten(-1, 90)},
		"closed, zeros":           {closed, blank(-1, 0)},
		"closed, the file's gone": {closed, vanish(-1)},
	} {
		t.Run(name, func(t *testing.T) {
			m, infos := c.from(t, 41)
			end := infos[len(infos)-1].Next
			_, lost := c.make(t, m, infos)
			l := mustOpen(t, repairing(options(m)))
			require.Equal(t, end, l.End())
			require.NoError(t, l.Close())
			recovers(t, m, options(m), without(span(0, end), lost[0], lost[1]))
		})
	}
}

// TestKafkaHadSynced: what another program has noted as synced cannot be torn.
func TestKafkaHadSynced(t *testing.T) {
	for name, c := range map[string]struct {
		synced int64 // below the end
		torn   bool
	}{"all of it": {0, false}, "not the last batch": {2, true}} {
		t.Run(name, func(t *testing.T) {
			m, infos := foreign(t, 20)
			end := infos[len(infos)-1].Next
			tear, lost := flip(-1, -1)(t, m, infos)
			require.EqualValues(t, 2, lost[1]-lost[0])
			require.NoError(t, kafkadir.WriteOffsets(m, filepath.Dir(dir), kafkadir.RecoveryPointFile,
				kafkadir.Offsets{filepath.Base(dir): end - c.synced}))
			if c.torn {
				recovers(t, m, options(m), span(0, tear))
				return
			}
			refuses(t, m, "*.log", -1)
			recovers(t, m, repairing(options(m)), without(span(0, end), lost[0], lost[1]))
		})
	}
}

// TestKilledWaitsForNoSync: a log whose process was killed opens and is read without a
// sync, be a batch cut off it or a segment sealed since its last checkpoint; the first
// change is one that waits for the names, and what a power cut leaves before is what
// was durable.
func TestKilledWaitsForNoSync(t *testing.T) {
	m, infos := killed(t, 14)
	last := infos[len(infos)-1]
	more := batch(t, last.Next, 1)
	clear(more[8:12])
	whole := content(t, m, logName(last.Base))[:last.Bytes]
	put(t, m, logName(last.Base), append(append(whole, more...), make([]byte, 300)...))

	f := vfs.NewFaulty(m)
	f.Add(vfs.Rule{Op: vfs.OpSync | vfs.OpSyncDir, Err: syscall.EIO})
	l := mustOpen(t, options(f))
	require.True(t, l.Recovery().Owed)
	require.Len(t, l.Recovery().Actions, 1)
	got, damage := readable(t, l)
	require.Empty(t, damage)
	require.Equal(t, span(0, last.Next), got)
	require.Equal(t, more[:len(more)-1], content(t, m, fmt.Sprintf("seglog.torn-%020d", last.Next)), "but for the zero at its end")
	_, err := l.Append(rec(last.Next))
	require.ErrorIs(t, err, log.ErrFailed)
	require.NoError(t, l.Close())

	for seed := range uint64(20) {
		recovers(t, m.Crash(seed), options(nil), span(0, mustOpen(t, reading(options(m.Crash(seed)))).End()))
	}
	recovers(t, m.Kill(), options(nil), span(0, last.Next))
}

// TestKilledWhileSealing: a roll that a kill ended before it had cut the indexes of the
// segment, or had stored their last entry, leaves indexes that are derived.
func TestKilledWhileSealing(t *testing.T) {
	for name, leave := range map[string]func(name string, b []byte) []byte{
		"whole":         func(_ string, b []byte) []byte { return b },
		"not cut":       func(_ string, b []byte) []byte { return append(b, make([]byte, 240)...) },
		"one entry too": func(_ string, b []byte) []byte { return append(b, b[len(b)-8:]...) },
		"not the last time": func(name string, b []byte) []byte {
			if name == segment.TimeIndexSuffix {
				b[len(b)-index.TimeEntrySize+7]--
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, infos := killed(t, 14)
			base := infos[len(infos)-2].Base
			for _, suffix := range []string{segment.IndexSuffix, segment.TimeIndexSuffix} {
				put(t, m, segment.Name(base, suffix), leave(suffix, content(t, m, segment.Name(base, suffix))))
			}
			derived := slices.ContainsFunc(inspect(t, m, recovery.Options{}).Actions, func(a recovery.Action) bool {
				return a.Kind == recovery.Reindex && a.Segment == base
			})
			require.Equal(t, name != "whole", derived)
			recovers(t, m, options(m), span(0, infos[len(infos)-1].Next))
		})
	}
}
