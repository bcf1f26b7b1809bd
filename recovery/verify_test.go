package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

// TestVerifyFinds: each kind of fault is found, once, with the file and the
// place in it; and verifying changes nothing.
func TestVerifyFinds(t *testing.T) {
	const damaged = 1 // segment
	for name, c := range map[string]struct {
		harm func(m *vfs.Mem, infos []info)
		want []string // a pattern for each fault, %s the segment's number
	}{
		"nothing": {func(*vfs.Mem, []info) {}, nil},
		"a checksum": {func(m *vfs.Mem, infos []info) { flip(damaged, 1)(t, m, infos) },
			[]string{`damaged at position \d+ of .*/%s\.log \(offset \d+; readable again from offset \d+\): record: corrupt: CRC`, `%s\.log: its xxhash64 is`}},
		"two checksums": {func(m *vfs.Mem, infos []info) { flip(damaged, 0)(t, m, infos); flip(damaged, 2)(t, m, infos) },
			[]string{`damaged at position 0 of .*/%s\.log`, `damaged at position \d\d+ of .*/%s\.log`, `%s\.log: its xxhash64 is`}},
		"the leader epoch, outside the checksum": {func(m *vfs.Mem, infos []info) { change(t, m, logName(infos[damaged].Base), 13) },
			[]string{`%s\.log: .* leader epoch 65536 of the batch at position 0 \(offset \d+\), but 0 in leader-epoch-checkpoint$`,
				`%s\.log: its xxhash64 is [0-9a-f]{16}, the seal is [0-9a-f]{16}$`}},
		"a raised base offset": {func(m *vfs.Mem, infos []info) { change(t, m, logName(infos[damaged].Base), 5) },
			[]string{`damaged at position 0 of .*/%s\.log .*offset`, `%s\.log: its xxhash64 is`}},
		"records that are none": {func(m *vfs.Mem, infos []info) {
			nonsense(t, m, logName(infos[damaged].Base))
		}, []string{`damaged at position 0 of .*/%s\.log .*record: corrupt`, `%s\.log: its xxhash64 is`}},
		"zeros at the end": {func(m *vfs.Mem, infos []info) { blank(damaged, 1)(t, m, infos) },
			[]string{`damaged at position \d+ of .*/%s\.log .*nothing readable follows`, `%s\.log: its xxhash64 is`}},
		"an index entry that leads nowhere": {func(m *vfs.Mem, infos []info) { change(t, m, segment.Name(infos[damaged].Base, ".index"), 7) },
			[]string{`%s\.index: offset index entry 0: no batch starts at position`}},
		"an index entry with a wrong offset": {func(m *vfs.Mem, infos []info) { change(t, m, segment.Name(infos[damaged].Base, ".index"), 3) },
			[]string{`%s\.index: offset index entry 0: `}},
		"a time entry with a wrong time": {func(m *vfs.Mem, infos []info) { change(t, m, segment.Name(infos[damaged].Base, ".timeindex"), 7) },
			[]string{`%s\.timeindex: time index entry 0: timestamp \d+, but the largest`}},
		"a missing segment": {func(m *vfs.Mem, infos []info) { vanish(damaged)(t, m, infos) },
			[]string{`damaged at position 0 of .*/%s\.log .*the file is missing`}},
		"a segment cut short": {func(m *vfs.Mem, infos []info) { shorten(damaged, 3)(t, m, infos) },
			[]string{`damaged at position \d+ of .*/%s\.log .*were durable`}},
	} {
		t.Run(name, func(t *testing.T) {
			m, infos := closed(t, 20)
			sealAll(t, m)
			c.harm(m, infos)
			before := files(t, m)
			var done, total int64
			v, err := log.Verify(t.Context(), dir, options(m), func(d, n int64) { done, total = d, n })
			require.NoError(t, err)
			require.Equal(t, before, files(t, m))
			require.Len(t, v.Faults, len(c.want), "%v", v.Faults)
			number := fmt.Sprintf("%020d", infos[damaged].Base)
			for i, want := range c.want {
				if strings.Contains(want, "%s") {
					want = fmt.Sprintf(want, number)
				}
				require.Regexp(t, want, v.Faults[i].Error())
			}
			if len(c.want) == 0 {
				require.Equal(t, total, done)
				require.Equal(t, len(infos), v.Segments)
				require.Equal(t, infos[len(infos)-1].Next, v.Records)
				require.EqualValues(t, 20, v.Batches)
				require.Equal(t, total, v.Bytes)
				require.Equal(t, len(infos)-1, v.Seals)
				require.Empty(t, v.Notes)
			}
		})
	}
}

// change turns bits of one byte of a file.
func change(t testing.TB, m *vfs.Mem, name string, at int) {
	t.Helper()
	b := content(t, m, name)
	b[at] ^= 0x01
	put(t, m, name, b)
}

// nonsense makes the first batch's records something else under a good checksum.
func nonsense(t testing.TB, m *vfs.Mem, name string) {
	t.Helper()
	b := content(t, m, name)
	first := batches(t, b)[0]
	for i := first.from + record.HeaderSize; i < first.to; i++ {
		b[i] = 0xff
	}
	h, err := record.ParseHeader(b)
	require.NoError(t, err)
	record.SetCreateTime(b[first.from:first.to], h.MaxTimestamp) // redoes it
	put(t, m, name, b)
}

// TestVerifyEpochs: a leader epoch that was changed, where no seal vouches for it,
// is seen from the neighbours, or from leader-epoch-checkpoint.
func TestVerifyEpochs(t *testing.T) {
	m := vfs.NewMem()
	l := mustOpen(t, options(m))
	for epoch := range int32(3) {
		require.NoError(t, l.SetLeaderEpoch(3*epoch))
		fill(t, l, 2)
	}
	require.Len(t, l.Segments(), 1)
	require.NoError(t, l.Close())
	sound := content(t, m, logName(0))
	for _, b := range batches(t, sound) {
		for bit := range 32 {
			hurt := append([]byte(nil), sound...)
			hurt[b.from+12+bit/8] ^= 1 << (bit % 8)
			put(t, m, logName(0), hurt)
			v, err := log.Verify(t.Context(), dir, options(m), nil)
			require.NoError(t, err)
			require.Len(t, v.Faults, 1, "offset %d, bit %d", b.base, bit)
			require.ErrorIs(t, v.Faults[0], record.ErrCorrupt)
			require.Regexp(t, fmt.Sprintf(`%020d\.log: record: corrupt: leader epoch -?\d+ of the batch at position \d+`, 0), v.Faults[0])
		}
	}
}

// What opening will put right is a note and no fault.
func TestVerifyNotes(t *testing.T) {
	m, _ := tornLog(t)
	v, err := log.Verify(t.Context(), dir, options(m), nil)
	require.NoError(t, err)
	require.Empty(t, v.Faults)
	require.NotEmpty(t, v.Notes)
	require.Contains(t, v.Notes[len(v.Notes)-1], "torn tail")

	m, infos := foreign(t, 20)
	remove(t, m, segment.Name(infos[1].Base, segment.IndexSuffix))
	put(t, m, recovery.CheckpointName, []byte("?"))
	v, err = log.Verify(t.Context(), dir, options(m), nil)
	require.NoError(t, err)
	require.Empty(t, v.Faults)
	require.Len(t, v.Notes, 2)
	require.Contains(t, v.Notes[0], "not believed")
	require.Contains(t, v.Notes[1], "missing")
}

// Verify beside the process that writes finds no fault.
func TestVerifyBesideWriter(t *testing.T) {
	m := vfs.NewMem()
	l := mustOpen(t, options(m))
	for range 30 {
		fill(t, l, 3)
		v, err := log.Verify(t.Context(), dir, options(m), nil)
		require.NoError(t, err)
		require.Empty(t, v.Faults)
		require.Equal(t, l.End(), v.Report.End)
	}
}

// TestReadOnlyBesideWriter: a log opened read-only beside the one that writes
// sees a prefix, whatever the other does.
func TestReadOnlyBesideWriter(t *testing.T) {
	m := vfs.NewMem()
	l := mustOpen(t, options(m))
	reader := mustOpen(t, reading(options(m)))
	first, end := int64(0), int64(0)
	for i := range 60 {
		switch {
		case i%9 == 5:
			first += 4
			require.NoError(t, l.DropBefore(first))
		case i%11 == 7:
			require.NoError(t, l.DropFrom(l.End()-3))
		case i%7 == 3:
			require.NoError(t, l.Checkpoint(t.Context()))
		default:
			fill(t, l, 3)
		}
		end = l.End()
		for range 2 { // what has grown first, then what was dropped
			require.NoError(t, reader.Refresh(t.Context()))
		}
		fresh := mustOpen(t, reading(options(m)))
		require.Equal(t, span(first, end), read(t, fresh))
		require.NoError(t, fresh.Close())
	}
	require.NoError(t, reader.Close())
}

func read(t testing.TB, l *log.Log) []int64 {
	t.Helper()
	got, damage := readable(t, l)
	require.Empty(t, damage)
	return got
}

// Without descriptors Verify has not looked: it says so, and finds no fault.
func TestVerifyWithoutDescriptors(t *testing.T) {
	m, _ := closed(t, 20)
	sealAll(t, m)
	for n := 0; ; n++ {
		f := vfs.NewFaulty(m)
		rule := f.Add(vfs.Rule{Op: vfs.OpMap | vfs.OpOpen | vfs.OpReadDir, After: n, Err: syscall.EMFILE})
		v, err := log.Verify(t.Context(), dir, options(f), nil)
		if rule.Failed() == 0 {
			require.NoError(t, err)
			require.Empty(t, v.Faults)
			require.Greater(t, n, 10)
			return
		}
		require.ErrorIs(t, err, syscall.EMFILE, "after %d", n)
		require.Empty(t, f.InUse())
	}
}

// A file that cannot be read stops Verify, or is a fault: never a pass.
func TestVerifyUnreadable(t *testing.T) {
	m, _ := closed(t, 20)
	sealAll(t, m)
	for n := 0; ; n++ {
		f := vfs.NewFaulty(m)
		rule := f.Add(vfs.Rule{Op: vfs.OpReadAt | vfs.OpMap | vfs.OpOpen | vfs.OpStat | vfs.OpSize | vfs.OpReadDir, After: n, Count: 1, Err: syscall.EIO})
		v, err := log.Verify(t.Context(), dir, options(f), nil)
		if rule.Failed() == 0 {
			require.NoError(t, err)
			require.Empty(t, v.Faults)
			return
		}
		if err == nil {
			require.NotEmpty(t, v.Faults, "after %d", n)
			err = errors.Join(v.Faults...)
		}
		require.ErrorIs(t, err, syscall.EIO)
	}
}

// TestVerifyFindsEveryFlip: in a segment that is read by two processors, step by
// step, a bit flipped anywhere is a fault that names the batch; with a seal, also
// where no checksum covers it.
func TestVerifyFindsEveryFlip(t *testing.T) {
	for _, sealed := range []bool{true, false} {
		m := vfs.NewMem()
		o := options(m)
		o.SegmentBytes, o.IndexInterval = 8<<20, 1<<10
		l := mustOpen(t, o)
		for l.End() < 200 {
			list := make([]record.Record, 10)
			for i := range list {
				list[i] = rec(l.End() + int64(i))
				list[i].Value = append(list[i].Value, make([]byte, 15_000)...)
			}
			_, err := l.Append(list...)
			require.NoError(t, err)
		}
		require.NoError(t, l.Close())
		if sealed {
			o.SegmentAge = 1 // so that a roll comes
			l = mustOpen(t, o)
			appendBatch(t, l, 1)
			require.NoError(t, l.Close())
		}
		name := logName(0)
		raw := content(t, m, name)
		all := batches(t, raw)
		require.Len(t, all, 20)
		v, err := log.Verify(t.Context(), dir, o, nil)
		require.NoError(t, err)
		require.Empty(t, v.Faults)
		require.Equal(t, sealed, v.Seals == 1)
		random := rand.New(rand.NewPCG(2, 3))
		for n := range 120 {
			b := all[random.IntN(len(all))]
			at := b.from + random.IntN(b.to-b.from)
			if n%2 == 0 {
				at = b.from + random.IntN(record.HeaderSize)
			}
			outside := at-b.from < 8 || at-b.from >= 12 && at-b.from < 16 // base offset and leader epoch
			bit := byte(1) << random.IntN(8)
			raw[at] ^= bit
			put(t, m, name, raw)
			v, err := log.Verify(t.Context(), dir, o, nil)
			require.NoError(t, err)
			if sealed || !outside {
				require.NotEmpty(t, v.Faults, "byte %d of the batch at position %d", at-b.from, b.from)
			}
			if !outside {
				var damage *log.DamageError
				require.ErrorAs(t, v.Faults[0], &damage)
				require.EqualValues(t, b.from, damage.Position, "byte %d of the batch at position %d", at-b.from, b.from)
			}
			raw[at] ^= bit
		}
	}
}

// TestVerifySeals: a seal proves each byte of a sealed segment, without a look at
// its batches or indexes; one that does not hold has the segment walked, and the
// place named. What has no seal is walked as ever.
func TestVerifySeals(t *testing.T) {
	m, infos := closed(t, 20)
	sealAll(t, m)
	sealed, newest := infos[:len(infos)-1], infos[len(infos)-1]
	var done, total int64
	v, err := log.VerifySeals(t.Context(), dir, options(m), func(d, n int64) { done, total = d, n })
	require.NoError(t, err)
	require.Empty(t, v.Faults)
	require.Equal(t, len(sealed), v.Seals)
	require.Equal(t, newest.Next-newest.Base, v.Records, "only the newest segment is walked")
	require.Equal(t, total, v.Bytes)
	require.Equal(t, total, done)

	for _, s := range sealed { // an index is not read
		change(t, m, segment.Name(s.Base, ".timeindex"), 7)
	}
	f := vfs.NewFaulty(m)
	for _, s := range sealed {
		f.Add(vfs.Rule{Op: vfs.OpOpen, Path: segment.Name(s.Base, ".*index"), Err: syscall.EIO})
	}
	v, err = log.VerifySeals(t.Context(), dir, options(f), nil)
	require.NoError(t, err)
	require.Empty(t, v.Faults)

	for _, s := range sealed[:2] { // every bit, of either
		name := logName(s.Base)
		for bit := range int(s.Bytes) * 8 {
			m := m.Fork()
			flipBit(t, m, name, bit)
			v, err := log.VerifySeals(t.Context(), dir, options(m), nil)
			require.NoError(t, err)
			require.Equal(t, len(sealed)-1, v.Seals, "bit %d", bit)
			require.NotEmpty(t, v.Faults, "bit %d of %s", bit, name)
			require.Contains(t, fmt.Sprint(v.Faults), name)
			require.Contains(t, fmt.Sprint(v.Faults), "the seal is")
		}
	}
	at := logName(newest.Base)
	change(t, m, at, 70)
	v, err = log.VerifySeals(t.Context(), dir, options(m), nil)
	require.NoError(t, err)
	var d *segment.DamageError
	require.Len(t, v.Faults, 1)
	require.ErrorAs(t, v.Faults[0], &d)
	require.Equal(t, newest.Base, d.Segment)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = log.VerifySeals(ctx, dir, options(m), nil)
	require.ErrorIs(t, err, context.Canceled)
}

func flipBit(t testing.TB, m *vfs.Mem, name string, bit int) {
	t.Helper()
	f, err := m.OpenFile(dir+"/"+name, os.O_RDWR, 0)
	require.NoError(t, err)
	var b [1]byte
	_, err = f.ReadAt(b[:], int64(bit/8))
	require.NoError(t, err)
	b[0] ^= 1 << (bit % 8)
	_, err = f.WriteAt(b[:], int64(bit/8))
	require.NoError(t, errors.Join(err, f.Close()))
}
