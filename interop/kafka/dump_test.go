package kafka

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/apache"
)

// dumped is what DumpLogSegments said of one directory: lines of standard
// output for each file, and complaints.
type dumped struct {
	lines      map[string][]string
	complaints []string
}

// parts are the files that DumpLogSegments takes.
func parts(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".log", ".index", ".timeindex", ".txnindex", ".snapshot":
			names = append(names, e.Name())
		}
	}
	return names
}

// argumentBytes is below the longest argument that Linux takes.
const argumentBytes = 100 << 10

// dump runs DumpLogSegments over directories, many in one call.
func dump(t *testing.T, dirs []string, flags ...string) map[string]*dumped {
	t.Helper()
	all := map[string]*dumped{}
	var some, files []string
	length := 0
	flush := func() {
		t.Helper()
		if len(files) == 0 {
			return
		}
		stdout, stderr := run.judge.tool(t, apache.DumpLog, append(slices.Clone(flags), "--files", strings.Join(files, ","))...)
		parsed, err := parseDump(some, stdout, stderr)
		require.NoError(t, err)
		for _, file := range files {
			_, ok := parsed[filepath.Dir(file)].lines[filepath.Base(file)]
			require.True(t, ok, "not dumped: %s", file)
		}
		maps.Copy(all, parsed)
		some, files, length = nil, nil, 0
	}
	for _, dir := range dirs {
		names := parts(t, dir)
		if length+len(names)*(len(dir)+40) > argumentBytes {
			flush()
		}
		some = append(some, dir)
		for _, name := range names {
			files = append(files, filepath.Join(dir, name))
			length += len(dir) + 40
		}
	}
	flush()
	return all
}

// parseDump sorts the tool's output by directory. Every line belongs to a file,
// on standard error too; one that does not is an error.
func parseDump(dirs []string, stdout, stderr string) (map[string]*dumped, error) {
	all := map[string]*dumped{}
	for _, dir := range dirs {
		all[dir] = &dumped{lines: map[string][]string{}}
	}
	var at *dumped
	var dir, name string
	for text := range strings.Lines(stdout) {
		text = strings.TrimRight(text, "\r\n")
		if file, ok := strings.CutPrefix(text, "Dumping "); ok {
			dir, name = filepath.Split(filepath.Clean(file))
			dir = filepath.Clean(dir)
			if at = all[dir]; at == nil {
				return nil, fmt.Errorf("dumped what it was not told to: %s", file)
			}
			at.lines[name] = []string{}
			continue
		}
		if at == nil {
			return nil, fmt.Errorf("printed before any file: %s", text)
		}
		text = strings.ReplaceAll(text, filepath.Join(dir, name), name)
		at.lines[name] = append(at.lines[name], text)
	}
	at = nil
	for text := range strings.Lines(stderr) {
		text = strings.TrimRight(text, "\r\n")
		for _, dir := range dirs {
			if strings.Contains(text, dir+string(filepath.Separator)) {
				at = all[dir]
				text = strings.ReplaceAll(text, dir+string(filepath.Separator), "")
				break
			}
		}
		if at == nil {
			return nil, fmt.Errorf("on standard error: %s", stderr)
		}
		at.complaints = append(at.complaints, text)
	}
	return all, nil
}

// same holds what the tool printed of a directory against what the files are,
// line by line. Nothing it says may be unexpected.
func (d *dumped) same(t *testing.T, want *dumped) {
	t.Helper()
	require.Empty(t, want.differs(d))
}

// differs says where another dump is not as this one, "" if it is.
func (d *dumped) differs(other *dumped) string {
	for name, lines := range d.lines {
		got := other.lines[name]
		for i := range min(len(lines), len(got)) {
			if lines[i] != got[i] {
				return fmt.Sprintf("line %d of %s is\n%.600s\nwant\n%.600s", i, name, got[i], lines[i])
			}
		}
		if len(got) != len(lines) {
			return fmt.Sprintf("%d lines of %s, want %d; the last is\n%.600s", len(got), name, len(lines), strings.Join(got[max(0, len(got)-1):], ""))
		}
	}
	if len(d.lines) != len(other.lines) {
		return fmt.Sprintf("%d files, want %d", len(other.lines), len(d.lines))
	}
	want, got := complaintsByFile(d.complaints), complaintsByFile(other.complaints)
	if !slices.Equal(want, got) {
		return fmt.Sprintf("it complains\n%.1000s\nwant\n%.1000s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return ""
}

// complaintsByFile sorts complaints, which come in no order of files.
func complaintsByFile(lines []string) []string {
	var groups []string
	for _, l := range lines {
		if strings.HasPrefix(l, "  ") && len(groups) > 0 {
			groups[len(groups)-1] += "\n" + l
			continue
		}
		groups = append(groups, l)
	}
	slices.Sort(groups)
	return groups
}

// counts adds up what a dump saw.
type counts struct{ dirs, segments, batches, records, indexed, timed int }

func (c *counts) add(d *dumped) {
	c.dirs++
	for name, lines := range d.lines {
		for _, l := range lines {
			switch {
			case strings.HasPrefix(l, "baseOffset: "):
				c.batches++
			case strings.HasPrefix(l, "| offset: "):
				c.records++
			case strings.HasPrefix(l, "offset: "):
				c.indexed++
			case strings.HasPrefix(l, "timestamp: "):
				c.timed++
			}
		}
		if filepath.Ext(name) == ".log" {
			c.segments++
		}
	}
}

func (c counts) String() string {
	return fmt.Sprintf("%d directories, %d segments, %d batches, %d records, %d offset and %d time index entries",
		c.dirs, c.segments, c.batches, c.records, c.indexed, c.timed)
}

// batchSize is what a batch's line says of its size.
func batchSize(t *testing.T, text string) int64 {
	t.Helper()
	_, rest, ok := strings.Cut(text, " size: ")
	require.True(t, ok, text)
	var n int64
	_, err := fmt.Sscan(rest, &n)
	require.NoError(t, err)
	return n
}
