package log_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// TestPitfallP1FileCutUnderUs: somebody cuts a file that is mapped. Every call
// goes on or returns an error that says where, and the process lives.
func TestPitfallP1FileCutUnderUs(t *testing.T) {
	// Relies on A10, A12 (docs/ASSUMPTIONS.md).
	for _, c := range []struct {
		base   int
		suffix string
	}{
		{0, "log"}, {0, "index"}, {0, "timeindex"}, // sealed
		{2, "log"}, {2, "index"}, {2, "timeindex"}, // active
	} {
		for where, most := range map[string]int64{"to nothing": 0, "in the middle": 4096} {
			t.Run(fmt.Sprintf("%d.%s %s", c.base, c.suffix, where), func(t *testing.T) {
				dir := t.TempDir()
				l, err := log.Open(ctx, dir, log.Options{SegmentBytes: 32 << 10, IndexInterval: 1})
				require.NoError(t, err)
				for len(bases(l)) < 3 {
					fill(t, l, 1)
				}
				fill(t, l, 60)
				wantValues(t, l) // all of it is mapped now
				at := bases(l)[c.base]
				end := l.End()
				path := filepath.Join(dir, fmt.Sprintf("%020d.%s", at, c.suffix))
				info, err := os.Stat(path)
				require.NoError(t, err)
				require.NoError(t, os.Truncate(path, min(most, info.Size()/2)))

				sane := func(what string, err error) {
					t.Helper()
					if err == nil {
						return
					}
					var d *log.DamageError
					switch {
					case errors.Is(err, log.ErrFailed):
					case errors.As(err, &d):
						assert.ErrorIs(t, err, record.ErrCorrupt, what)
						assert.Equal(t, at, d.Segment, what)
					default:
						t.Errorf("%s: %v", what, err)
					}
				}
				bad := 0
				for i := range end {
					r, err := l.Read(i)
					sane("Read", err)
					if err == nil {
						require.Equal(t, value(int(i)), string(r.Value))
					} else {
						bad++
					}
				}
				if c.suffix == "log" {
					assert.NotZero(t, bad)
				} else {
					assert.Less(t, bad, int(end))
				}
				last := int64(-1)
				for r, err := range l.From(0) {
					sane("From", err)
					if err == nil {
						require.Greater(t, r.Offset, last)
						last = r.Offset
					}
				}
				for _, base := range bases(l) {
					v, err := l.Borrow(base, 1<<20)
					sane("Borrow", err)
					if err == nil {
						v.Release()
					}
				}
				_, err = l.OffsetAt(time.Now().Add(-time.Hour))
				sane("OffsetAt", err)
				_, err = l.OffsetAt(time.Now().Add(time.Hour))
				sane("OffsetAt", err)
				_, err = l.Explain(end - 1)
				sane("Explain", err)
				for range 300 { // over the next roll
					if _, err = l.Append(rec(value(int(l.End())))); err != nil {
						sane("Append", err)
						break
					}
				}
				sane("Checkpoint", l.Checkpoint(ctx))
				sane("DropFrom", l.DropFrom(end-1))
				sane("DropBefore", l.DropBefore(bases(l)[1]))
				_ = l.Close() // may well complain

				again, err := log.Open(ctx, dir, log.Options{SegmentBytes: 32 << 10, Mode: log.Repair})
				require.NoError(t, err)
				_, err = again.AppendSync(ctx, rec("x"))
				require.NoError(t, err)
				require.NoError(t, again.Close())
			})
		}
	}
}

// TestSegmentGoneFromDisk: a file that is not there, or cannot be opened for a
// while, is an error of the reads that need it and of nothing else.
func TestSegmentGoneFromDisk(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, small())
	fill(t, l, 12)
	closeLog(t, l)
	l = open(t, dir, small()) // nothing sealed is mapped
	name := filepath.Join(dir, "00000000000000000005.log")
	require.NoError(t, os.Rename(name, name+".away"))
	_, err := l.Read(6)
	var d *log.DamageError
	require.ErrorAs(t, err, &d)
	assert.ErrorIs(t, err, record.ErrCorrupt)
	assert.Equal(t, int64(5), d.Segment)
	var got []int64
	for r, err := range l.From(0) {
		if err != nil {
			require.ErrorAs(t, err, &d)
			continue
		}
		got = append(got, r.Offset)
	}
	assert.Equal(t, []int64{0, 1, 2, 3, 4, 10, 11}, got)
	require.NoError(t, os.Rename(name+".away", name))
	wantValues(t, l)
}
