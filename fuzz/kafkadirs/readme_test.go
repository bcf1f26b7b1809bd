package kafkadirs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// measured is what the folder's README says of a partition directory, as an
// independent parser measured it.
type measured struct {
	dir      string         // within the folder
	magic    map[string]int // batches by magic
	codecs   map[string]int // batches by codec
	types    map[string]int // batches by timestamp type
	control  int            // control batches
	segments []measuredSegment
}

type measuredSegment struct {
	base, bytes, batches, records, first, last int64
	headers, nulls                             int64 // records with headers, with null values
	index, times                               int64 // entries, -1 where the file is missing
}

var (
	dirLine = regexp.MustCompile(`^- \*\*(.+)\*\* \d+ bytes; magic ([^;]+); codec ([^;]+); ts ([^;]+)(?:; (.*))?$`)
	segLine = regexp.MustCompile(`^  - seg (\d+): log (\d+) B, batches (\d+), records (\d+), offsets (\d+)\.\.(\d+), bad crc 0`)
	idxLine = regexp.MustCompile(`^    index(?:: none| (\d+) entries).*; timeindex(?:: none| (\d+) entries)`)
	headers = regexp.MustCompile(`records with headers (\d+)`)
	nulls   = regexp.MustCompile(`null values (\d+)`)
	control = regexp.MustCompile(`control [^;]*:(\d+)`)
)

// readReadme parses the README of the folder.
func readReadme(t *testing.T, folder string) []measured {
	text, err := os.ReadFile(filepath.Join(folder, "README.md"))
	require.NoError(t, err)
	var list []measured
	for _, line := range strings.Split(string(text), "\n") {
		if m := dirLine.FindStringSubmatch(line); m != nil {
			list = append(list, measured{dir: m[1], magic: counts(t, m[2]), codecs: counts(t, m[3]), types: counts(t, m[4])})
			if c := control.FindStringSubmatch(m[5]); c != nil {
				list[len(list)-1].control = int(number(t, c[1]))
			}
		}
		if len(list) == 0 {
			continue
		}
		d := &list[len(list)-1]
		if m := segLine.FindStringSubmatch(line); m != nil {
			s := measuredSegment{base: number(t, m[1]), bytes: number(t, m[2]), batches: number(t, m[3]),
				records: number(t, m[4]), first: number(t, m[5]), last: number(t, m[6]), index: -1, times: -1}
			if h := headers.FindStringSubmatch(line); h != nil {
				s.headers = number(t, h[1])
			}
			if n := nulls.FindStringSubmatch(line); n != nil {
				s.nulls = number(t, n[1])
			}
			d.segments = append(d.segments, s)
		}
		if m := idxLine.FindStringSubmatch(line); m != nil {
			s := &d.segments[len(d.segments)-1]
			if m[1] != "" {
				s.index = number(t, m[1])
			}
			if m[2] != "" {
				s.times = number(t, m[2])
			}
		}
	}
	require.Greater(t, len(list), 15, "the README was not understood")
	return list
}

// counts parses "none:4 gzip:2".
func counts(t *testing.T, s string) map[string]int {
	m := map[string]int{}
	for _, f := range strings.Fields(s) {
		name, n, ok := strings.Cut(f, ":")
		require.True(t, ok, s)
		m[name] = int(number(t, n))
	}
	return m
}

func number(t *testing.T, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	require.NoError(t, err)
	return n
}
