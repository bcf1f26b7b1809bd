package log_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// TestNeighboursOfDamage: whichever bit of a segment is flipped, each record is
// read by its offset, borrowed and walked to, or an error covers that very
// offset; also where the damaged batch begins below the log start.
func TestNeighboursOfDamage(t *testing.T) {
	mem := vfs.NewMem()
	o := small()
	o.Env.FS, o.IndexInterval, o.SegmentBytes = mem, 1<<20, 4<<10 // lookups pass every batch before
	l := open(t, "log", o)
	for range 5 {
		first := int(l.End())
		_, err := l.Append(rec(value(first)), rec(value(first+1)), rec(value(first+2)))
		require.NoError(t, err)
	}
	require.NoError(t, l.DropBefore(1))
	closeLog(t, l)
	const name = "log/00000000000000000000.log"
	content, err := vfs.ReadFile(mem, name)
	require.NoError(t, err)
	file, err := mem.OpenFile(name, os.O_RDWR, 0)
	require.NoError(t, err)
	defer file.Close()

	covers := func(err error, offset int64) {
		t.Helper()
		var d *log.DamageError
		require.ErrorAs(t, err, &d)
		require.LessOrEqual(t, d.Offset, offset)
		require.True(t, d.Next < 0 || d.Next > offset, "%d is not in %v", offset, err)
	}
	for bit := 0; bit < len(content)*8; bit++ {
		at := bit / 8
		if at%503 > 80 && bit%61 != 0 { // headers above all
			continue
		}
		_, err := file.WriteAt([]byte{content[at] ^ 1<<(bit%8)}, int64(at))
		require.NoError(t, err)
		l := open(t, "log", o)
		lost := 0
		for offset := l.First(); offset < l.End(); offset++ {
			r, err := l.Read(offset)
			if err != nil {
				covers(err, offset)
				lost++
			} else {
				require.Equal(t, value(int(offset)), string(r.Value), "bit %d", bit)
			}
			v, borrowErr := l.Borrow(offset, 1)
			require.Equal(t, err != nil, borrowErr != nil, "bit %d, offset %d: %v, %v", bit, offset, err, borrowErr)
			if borrowErr != nil {
				covers(borrowErr, offset)
			} else {
				require.Greater(t, v.Next(), offset, "bit %d", bit)
				v.Release()
			}
			for r, err := range l.From(offset) {
				if err != nil {
					covers(err, offset)
				} else {
					require.Equal(t, offset, r.Offset, "bit %d", bit)
				}
				break
			}
		}
		require.LessOrEqual(t, lost, 3, "bit %d", bit)
		closeLog(t, l)
		_, err = file.WriteAt(content[at:at+1], int64(at))
		require.NoError(t, err)
	}
}

// TestOffsetAtInDamage: a time is answered right, or with the damage that the
// answer may be in.
func TestOffsetAtInDamage(t *testing.T) {
	mem := vfs.NewMem()
	o := small()
	o.Env.FS = mem
	l := open(t, "log", o)
	fill(t, l, 5)
	times := map[int64]int64{}
	for r, err := range l.From(0) {
		require.NoError(t, err)
		if _, ok := times[r.Time.UnixMilli()]; !ok {
			times[r.Time.UnixMilli()] = r.Offset
		}
	}
	closeLog(t, l)
	const name = "log/00000000000000000000.log"
	content, err := vfs.ReadFile(mem, name)
	require.NoError(t, err)
	file, err := mem.OpenFile(name, os.O_RDWR, 0)
	require.NoError(t, err)
	defer file.Close()
	for bit := 0; bit < len(content)*8; bit += 3 {
		at := bit / 8
		_, err := file.WriteAt([]byte{content[at] ^ 1<<(bit%8)}, int64(at))
		require.NoError(t, err)
		l := open(t, "log", o)
		for ms, want := range times {
			got, err := l.OffsetAt(time.UnixMilli(ms))
			var d *log.DamageError
			if errors.As(err, &d) {
				require.LessOrEqual(t, d.Offset, want)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, want, got, "bit %d", bit)
		}
		closeLog(t, l)
		_, err = file.WriteAt(content[at:at+1], int64(at))
		require.NoError(t, err)
	}
}
