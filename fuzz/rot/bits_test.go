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

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

var every = flag.Int("every", 2003, "flip each bit whose number is a multiple of this")

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
// state, and opens them to read and to write.
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
							tryBit(t, b, name, all[name], bit)
							flipped++
						}
					}
				}
			})
		}
	}
	require.Greater(t, flipped, 100)
}

func tryBit(t *testing.T, b *built, name string, content []byte, bit int) {
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
		untrue := look(l, slices.Collect(maps.Keys(b.want.at))).untrue(&b.want)
		require.NoError(t, l.Close())
		if !excused(unnoticed, b, name, in) {
			require.Empty(t, untrue, "bit %d of %s, in %s, mode %d", bit, name, in, mode)
		}
	}
}

func errorsOf(faults []error) (list []string) {
	for _, err := range faults {
		list = append(list, err.Error())
	}
	return list
}
