package log_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// TestReadOnlyBesideACompactingWriter: a log opened read-only sees what another
// process has compacted, whether it is told to look or comes to files that are
// others than it knows: segments that became smaller, ones joined under one name,
// and its newest one, which was sealed and compacted since. A walk goes on.
func TestReadOnlyBesideACompactingWriter(t *testing.T) {
	for name, dir := range map[string]string{"memory": "log", "disk": t.TempDir()} {
		for _, refresh := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/refresh=%t", name, refresh), func(t *testing.T) {
				dir := fmt.Sprint(dir, refresh)
				o := compactedLog()
				o.Env.FS = vfs.FS(vfs.OS)
				if name == "memory" {
					o.Env.FS = vfs.NewMem()
				}
				w := open(t, dir, o)
				put(t, w, keyed("only", "1"))
				r := o
				r.Mode, r.MappedSegments = log.ReadOnly, 1 // most of its segments are not mapped
				reader := open(t, dir, r)
				for round := range 3 {
					newest := w.Segments()[len(w.Segments())-1].Base
					require.Equal(t, newest, reader.Segments()[len(reader.Segments())-1].Base)
					for i := range 8 {
						put(t, w, keyed(fmt.Sprint("k", i%3), fmt.Sprint(round, i)), keyed("gone", ""))
						roll(t, w)
					}
					compacted(t, w)
					if refresh {
						for range 3 { // one look may end at a segment's end
							require.NoError(t, reader.Refresh(ctx))
						}
						require.Equal(t, bases(w), bases(reader))
						require.Equal(t, w.End(), reader.End())
						require.Equal(t, readAll(t, w), readAll(t, reader))
						continue
					}
					// What it knew last is what it reads, as far as it is still there.
					end := reader.End()
					var got []string
					for r, err := range reader.From(0) {
						require.NoError(t, err)
						if r.Offset < end {
							got = append(got, show(r))
						}
					}
					require.Subset(t, append(got, "0 only=1"), below(readAll(t, w), end))
					for i := range end {
						_, err := reader.Read(i)
						if err != nil {
							require.ErrorIs(t, err, log.ErrNoRecord)
						}
					}
					require.NoError(t, reader.Refresh(ctx))
					require.NoError(t, reader.Refresh(ctx))
					require.NoError(t, reader.Refresh(ctx))
				}
				// Compacted between two records of a walk.
				put(t, w, keyed("k0", "last"))
				roll(t, w)
				for range 3 {
					require.NoError(t, reader.Refresh(ctx))
				}
				var walked []string
				for r, err := range reader.From(0) {
					require.NoError(t, err)
					if walked = append(walked, show(r)); len(walked) == 2 {
						compacted(t, w)
					}
				}
				require.Subset(t, walked, readAll(t, w))
			})
		}
	}
}

// below are those with offsets below end, of lines as readAll makes them.
func below(lines []string, end int64) (list []string) {
	for _, s := range lines {
		var offset int64
		if _, err := fmt.Sscan(s, &offset); err == nil && offset < end {
			list = append(list, s)
		}
	}
	return list
}
