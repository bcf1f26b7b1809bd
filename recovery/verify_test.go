package recovery_test

import (
	"errors"
	"fmt"
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
			[]string{`%s\.log: its xxhash64 is [0-9a-f]{16}, the seal is [0-9a-f]{16}$`}},
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
