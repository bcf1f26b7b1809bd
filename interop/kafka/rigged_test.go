package kafka

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/apache"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/segment"
)

// TestWhatIsWrongIsSeen: a directory that is rigged makes the real tool
// complain, or its output differ, in a way that this harness does not miss.
func TestWhatIsWrongIsSeen(t *testing.T) {
	needsKafka(t)
	good := filepath.Join(run.dir, "rigged", "good")
	w := newWriter(t, good, log.Options{SegmentBytes: 64 << 10})
	w.fill(500)
	w.close()
	at := func(dir string, base int64, suffix string) string {
		return filepath.Join(dir, segment.Name(base, suffix))
	}
	cases := []struct {
		name string
		rig  func(dir string)
		want string // in the tool's output
	}{
		{"nothing", func(string) {}, ""},
		{"offset index entry", func(dir string) { add(t, at(dir, 0, segment.IndexSuffix), 3, 1) }, "Mismatches in :"},
		{"time index time", func(dir string) { add(t, at(dir, 0, segment.TimeIndexSuffix), 7, 1) }, "Found timestamp mismatch in :"},
		{"time index offset", func(dir string) { add(t, at(dir, 0, segment.TimeIndexSuffix), 11, 255) }, "Indexed offset: "},
		{"time index order", func(dir string) { copyEntry(t, at(dir, 0, segment.TimeIndexSuffix), 12) }, "Found out of order timestamp in :"},
		{"value", func(dir string) { add(t, at(dir, 0, segment.LogSuffix), 100, 1) }, "isvalid: false"},
		{"tail", func(dir string) { grow(t, at(dir, 0, segment.LogSuffix), []byte("garbage garbage")) }, ""},
	}
	var dirs []string
	for _, c := range cases {
		dir := filepath.Join(run.dir, "rigged", strings.ReplaceAll(c.name, " ", "-"))
		copyInto(t, good, dir)
		c.rig(dir)
		dirs = append(dirs, dir)
	}
	want := render(t, good, full)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			files := []string{}
			for _, name := range parts(t, dirs[i]) {
				files = append(files, filepath.Join(dirs[i], name))
			}
			stdout, stderr, failed := run.judge.try(t, apache.DumpLog, append(full.flags(), "--files", strings.Join(files, ","))...)
			assert.Contains(t, stdout+stderr, c.want)
			all, err := parseDump(dirs[i:i+1], stdout, stderr)
			differs := failed != nil || err != nil || want.differs(all[dirs[i]]) != "" || len(complaintsButStarts(all[dirs[i]].complaints)) > 0
			assert.Equal(t, c.name != "nothing", differs)
		})
	}
}

// add changes a byte of a file.
func add(t *testing.T, file string, position int, n byte) {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	content[position] += n
	require.NoError(t, os.WriteFile(file, content, 0o644))
}

// copyEntry makes the second entry's time the first's.
func copyEntry(t *testing.T, file string, size int) {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(content), 2*size)
	binary.BigEndian.PutUint64(content[size:], binary.BigEndian.Uint64(content))
	require.NoError(t, os.WriteFile(file, content, 0o644))
}

func grow(t *testing.T, file string, junk []byte) {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(content, junk...), 0o644))
}
