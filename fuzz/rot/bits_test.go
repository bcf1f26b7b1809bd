package rot

import (
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

var (
	every = flag.Int("every", 2003, "flip each bit whose number is a multiple of this")
	onIn  = flag.Int("on", 3, "append to the log that opens, and open it again, with one in so many of these")
)

// fields are those of a batch header, by where they end.
var fields = []struct {
	end  int
	name string
}{{8, "baseOffset"}, {12, "length"}, {16, "leaderEpoch"}, {17, "magic"}, {21, "crc"}, {61, "header"}}

// field names what a byte of a log file is part of.
func field(log []byte, at int) string {
	for pos := 0; pos < len(log); {
		h, err := record.ParseHeader(log[pos:])
		if err != nil {
			break
		}
		if at < pos+h.Size {
			last := ""
			if _, err := record.ParseHeader(log[pos+h.Size:]); err != nil {
				last = " of the last"
			}
			for _, f := range fields {
				if at-pos < f.end {
					return f.name + last
				}
			}
			return "records"
		}
		pos += h.Size
	}
	return "behind"
}

func flip(t testing.TB, m *vfs.Mem, name string, bit int) {
	t.Helper()
	f, err := m.OpenFile(name, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	var b [1]byte
	_, err = f.ReadAt(b[:], int64(bit/8))
	require.NoError(t, err)
	b[0] ^= 1 << (bit % 8)
	_, err = f.WriteAt(b[:], int64(bit/8))
	require.NoError(t, err)
}

// TestEveryBit flips the bits of every file of logs of each variety, left in each
// state, and opens them to read and to write. Some of those that open are appended
// to and opened again.
func TestEveryBit(t *testing.T) {
	flipped := 0
	for _, v := range varieties {
		for _, s := range []state{closed, killed, foreign} {
			t.Run(v.name+"/"+string(s), func(t *testing.T) {
				b := build(t, v, s)
				all := files(t, b.copy(), b.dir())
				number := 0
				for _, name := range slices.Sorted(maps.Keys(all)) {
					for bit := range len(all[name]) * 8 {
						if number++; number%*every == 0 {
							tryBit(t, b, name, all[name], bit, flipped%*onIn == 0)
							flipped++
						}
					}
				}
			})
		}
	}
	require.Greater(t, flipped, 100)
}

func tryBit(t *testing.T, b *built, name string, content []byte, bit int, on bool) {
	t.Helper()
	in := ""
	if strings.HasSuffix(name, ".log") {
		in = field(content, bit/8)
	}
	m := b.copy()
	flip(t, m, filepath.Join(b.dir(), name), bit)
	v, err := log.Verify(ctx, b.dir(), b.options(m), nil)
	require.NoError(t, err, "bit %d of %s", bit, name)
	if in != "" && in != "behind" && !excused(unverified, b, name, in) {
		require.NotEmpty(t, append(v.Notes, errorsOf(v.Faults)...), "bit %d of %s, in %s", bit, name, in)
	}
	for _, mode := range []log.Mode{log.ReadOnly, log.ReadWrite} {
		o := b.options(m)
		o.Mode = mode
		l, err := log.Open(ctx, b.dir(), o)
		if err != nil {
			var d *log.DamageError
			require.True(t, mode == log.ReadWrite && errors.As(err, &d) && d.Path != "", "bit %d of %s: %v", bit, name, err)
			continue
		}
		want := b.want
		untrue := look(l, slices.Collect(maps.Keys(want.at))).untrue(&want)
		if on && mode == log.ReadWrite {
			appended := goOn(t, l, &want)
			require.NoError(t, l.Close(), "bit %d of %s, appended to", bit, name)
			l, err = log.Open(ctx, b.dir(), o)
			require.NoError(t, err, "bit %d of %s, appended to", bit, name)
			r := l.Recovery()
			require.True(t, r.Clean && len(r.Actions) == 0, "bit %d of %s, appended to: %v", bit, name, r.LogValue())
			again := look(l, slices.Collect(maps.Keys(want.at)))
			require.True(t, len(again.records) > 0 && same(again.records[len(again.records)-1], appended), "bit %d of %s, appended to", bit, name)
			untrue = append(untrue, again.untrue(&want)...)
		}
		require.NoError(t, l.Close())
		if !excused(unnoticed, b, name, in) {
			require.Empty(t, untrue, "bit %d of %s, in %s, mode %d", bit, name, in, mode)
		}
	}
}

// goOn appends a record, later than all, durably, and makes want what the log holds
// then.
func goOn(t *testing.T, l *log.Log, want *content) record.Record {
	t.Helper()
	r := record.Record{Key: []byte("on"), Value: []byte("and on"), Time: epoch0.Add(time.Hour)}
	offset, err := l.AppendSync(ctx, r)
	require.NoError(t, err)
	r.Offset = offset
	want.records = append(slices.Clone(want.records), r)
	if want.stable == want.end { // no transaction is open
		want.stable = offset + 1
		want.committed = append(slices.Clone(want.committed), offset)
	}
	want.end = offset + 1
	return r
}

func errorsOf(faults []error) (list []string) {
	for _, err := range faults {
		list = append(list, err.Error())
	}
	return list
}
