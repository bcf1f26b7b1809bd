package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// However the input comes in chunks, its lines are those of strings.Split, but
// for an empty one at the end.
func TestLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delimiter := rapid.SampledFrom([]string{"\n", "ab", "aab", "aa", "\x00"}).Draw(t, "delimiter")
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aab\n\x00")), 0, 60, -1).Draw(t, "text")
		want := strings.Split(text, delimiter)
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		l := lines{delimiter: []byte(delimiter), most: 60}
		got := []string{}
		each := func(line []byte) error {
			got = append(got, string(line))
			return nil
		}
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			chunk := bytes.Clone(rest[:n])
			require.NoError(t, l.take(chunk, each))
			clear(chunk) // it is read into again
			rest = rest[n:]
		}
		require.NoError(t, l.finish(each))
		require.Equal(t, append([]string{}, want...), got)
	})
}

// A line of the most bytes is one, of one more is refused, be its end there or not.
func TestLongLine(t *testing.T) {
	for _, delimiter := range []string{"\n", "--"} {
		for n, fits := range map[int]bool{5: true, 6: false} {
			for _, end := range []string{"", delimiter} {
				for _, step := range []int{1, 2, 100} {
					l := lines{delimiter: []byte(delimiter), most: 5}
					got := ""
					each := func(line []byte) error { got += string(line); return nil }
					var err error
					for rest := strings.Repeat("x", n) + end; rest != "" && err == nil; {
						i := min(step, len(rest))
						err, rest = l.take([]byte(rest[:i]), each), rest[i:]
					}
					if err == nil {
						err = l.finish(each)
					}
					require.Equal(t, !fits, errors.As(err, new(longLine)), "%d bytes, end %q, step %d: %v", n, end, step, err)
					require.Equal(t, fits, got != "")
				}
			}
		}
	}
	l := lines{delimiter: []byte("\n"), most: 5}
	require.ErrorAs(t, l.take([]byte("1234567"), nil), new(longLine), "it need not end")
}
