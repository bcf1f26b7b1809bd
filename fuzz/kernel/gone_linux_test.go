package kernel

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/fuzz/said"
	"github.com/seglog/seglog/log"
)

// TestDirectoryGone: somebody renames or removes the directory of a log that is
// open, or puts another one in its place. Appends fail, and say why, or go on;
// what AppendSync or Durable has called durable is in the files, wherever they are,
// and nothing is where there are none; the process lives.
func TestDirectoryGone(t *testing.T) {
	for name, c := range map[string]struct {
		meddle func(dir string) error
		left   string // where the log's files are then, beside dir; "" is nowhere
	}{
		"renamed":        {func(dir string) error { return os.Rename(dir, dir+"-away") }, "log-away"},
		"parent renamed": {func(dir string) error { return os.Rename(filepath.Dir(dir), filepath.Dir(dir)+"-away") }, "../data-away/log"},
		"removed":        {os.RemoveAll, ""},
		"another in its place": {func(dir string) error {
			return errors.Join(os.Rename(dir, dir+"-away"), os.Mkdir(dir, 0o755))
		}, "log-away"},
		"a copy in its place": {func(dir string) error {
			return errors.Join(os.Rename(dir, dir+"-away"), os.CopyFS(dir, os.DirFS(dir+"-away")))
		}, "log-away"},
	} {
		for _, upTo := range []int{3, 60} { // within the newest segment, and over rolls
			t.Run(name, func(t *testing.T) {
				dir := filepath.Join(inMemory(t), "data", "log")
				o := log.Options{SegmentBytes: 4 << 10, IndexInterval: 256, MappedSegments: 1}
				l, err := log.Open(ctx, dir, o)
				require.NoError(t, err)
				for i := range 50 {
					_, err := l.Append(numbered(i))
					require.NoError(t, err)
				}
				require.NoError(t, l.Sync(ctx))
				durable := l.Durable()
				require.NoError(t, c.meddle(dir))

				told, acked := 0, 0
				sane := func(what string, err error) bool {
					if err == nil {
						return true
					}
					told++
					gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, log.ErrFailed)
					require.True(t, gone || err.Error() == "log: "+dir+" is not the directory that was opened: somebody has put another one in its place",
						"%s: %v", what, err)
					return false
				}
				for range upTo {
					if first, err := l.AppendSync(ctx, numbered(int(l.End()))); sane("AppendSync", err) {
						durable = first + 1
						acked++
					} else if _, err := l.Append(numbered(int(l.End()))); err == nil {
						require.ErrorIs(t, errors.Join(l.Sync(ctx), fs.ErrNotExist), fs.ErrNotExist)
					}
				}
				if l.Durable() > durable {
					durable = l.Durable()
				}
				if c.left == "" {
					require.Zero(t, acked, "there is no file that it could be in")
				}
				for r, err := range l.From(l.First()) { // what is mapped can be read
					if err != nil {
						continue
					}
					id, err := said.Parse(r.Value)
					require.NoError(t, err)
					require.Equal(t, r.Offset, int64(id.Batch))
				}
				sane("Checkpoint", l.Checkpoint(ctx))
				sane("DropBefore", l.DropBefore(l.First()+3))
				first := l.First()
				sane("Close", l.Close())
				require.NotZero(t, told)
				if c.left == "" {
					return
				}
				l, err = log.Open(ctx, filepath.Join(filepath.Dir(dir), c.left), o)
				require.NoError(t, err)
				require.GreaterOrEqual(t, l.End(), durable, "%d were acknowledged", acked)
				for at := max(first, l.First()); at < durable; at++ {
					r, err := l.Read(at)
					require.NoError(t, err)
					id, err := said.Parse(r.Value)
					require.NoError(t, err)
					require.Equal(t, at, int64(id.Batch))
				}
				_, err = l.AppendSync(ctx, numbered(int(l.End())))
				require.NoError(t, err)
				require.NoError(t, l.Close())
			})
		}
	}
}
