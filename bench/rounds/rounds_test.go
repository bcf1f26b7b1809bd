package rounds

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMedian(t *testing.T) {
	require.Equal(t, 2.0, Median([]float64{3, 1, 2}))
	require.Equal(t, 2.5, Median([]float64{4, 1, 2, 3}))
	require.True(t, math.IsNaN(Median(nil)))
	require.Equal(t, 1.0, Spread([]float64{3, 1, 2}))
	require.Zero(t, Spread([]float64{0, 0}))
	require.Zero(t, Spread(nil))
}

func TestPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	p := Page{Begin: "<!-- a -->", End: "<!-- b -->"}
	require.NoError(t, os.WriteFile(path, []byte("before\n<!-- a -->\nold\n<!-- b -->\nbehind\n"), 0o644))
	for range 2 { // twice is the same
		require.NoError(t, p.Write(path, "new\n"))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "before\n<!-- a -->\n\nnew\n\n<!-- b -->\nbehind\n", string(text))
	}
	for _, wrong := range []string{"no lines\n", "<!-- b -->\n<!-- a -->\n"} {
		require.NoError(t, os.WriteFile(path, []byte(wrong), 0o644))
		require.ErrorContains(t, p.Write(path, "new\n"), "there are no lines")
	}
	require.NoError(t, p.Write(path+".new", "new\n"))
	require.FileExists(t, path+".new")
}

// TestOptions: what is given, where the page goes, and that the data is gone at the end.
func TestOptions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "v1.txt")
	var got Options
	c := Command{Name: "compare", Rounds: 7, Run: func(_ context.Context, o Options) error {
		got = o
		require.DirExists(t, o.Dir)
		return Line(o.Results, "produce/100B", "Kafka", []Figure{{170.5, "MB/s"}, {3, "CPU s/GB"}})
	}}
	run := func(args ...string) error { return c.run(t.Context(), append(args, "-dir", t.TempDir())) }
	require.NoError(t, run("-results", file))
	require.Equal(t, 7, got.Rounds)
	require.Equal(t, filepath.Join("..", "..", "docs"), got.Docs)
	require.NoDirExists(t, got.Dir)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	tree, line, _ := strings.Cut(string(text), "\n")
	require.Regexp(t, `^seglog: \S+$`, tree)
	require.Equal(t, "BenchmarkProduce/100B/side=Kafka 1 170.5 MB/s 3 CPU-s/GB\n", line)

	require.NoError(t, run("-quick", "-rounds", "5"))
	require.Equal(t, 1, got.Rounds)
	require.Empty(t, got.Docs, "a part of a run writes no page")
	require.NoError(t, run("-run", "^Append"))
	require.Empty(t, got.Docs)
	require.True(t, got.Only.MatchString("Append/100B"))
	require.ErrorContains(t, run("-rounds", "0"), "at least 1")
	require.ErrorContains(t, run("-run", "("), "-run")
	wrong := errors.New("it failed")
	c.Run = func(context.Context, Options) error { return wrong }
	require.ErrorIs(t, run(), wrong)
}
