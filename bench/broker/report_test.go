package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sample(raw io.Writer) (*results, error) {
	var errs []error
	r := newResults([]*node{{name: ours}, {name: theirs}}, 3, raw)
	for _, v := range []float64{400, 100, 200} {
		errs = append(errs, r.add("produce/x", ours, figures{mbPerSecond: v, cpuPerGB: 0.5}),
			r.add("produce/x", theirs, figures{mbPerSecond: v / 4, cpuPerGB: 2}))
	}
	return r, errors.Join(append(errs, r.add("start", ours, figures{startSeconds: 0.02}), r.add("start", theirs, figures{startSeconds: 3}))...)
}

// TestReport: medians of the rounds, how many times as good, a table for each
// kind of rows.
func TestReport(t *testing.T) {
	var raw strings.Builder
	r, err := sample(&raw)
	require.NoError(t, err)
	text := r.markdown()
	assert.Contains(t, raw.String(), "BenchmarkProduce/x/side=seglog 1 400 MB/s 0.5 CPU-s/GB\nBenchmarkProduce/x/side=Kafka 1 100 MB/s 2 CPU-s/GB\n")
	assert.Contains(t, text, "\n| | seglog: MB/s | Kafka: MB/s | times | seglog: CPU s/GB | Kafka: CPU s/GB | times |\n|---|---|---|---|---|---|---|\n"+
		"| `produce/x` | 200 | 50.0 | 4.00 | 0.500 | 2.00 | 4.00 |\n")
	assert.Contains(t, text, "\n| | seglog: s to first record | Kafka: s to first record | times |\n|---|---|---|---|\n| `start` | 0.020 | 3.00 | 150 |\n")
}

// TestAlone: without Kafka there is nothing to compare with.
func TestAlone(t *testing.T) {
	r := newResults([]*node{{name: ours}}, 1, io.Discard)
	require.NoError(t, r.add("produce/x", ours, figures{mbPerSecond: 1}))
	assert.Contains(t, r.markdown(), "\n| | seglog: MB/s |\n|---|---|\n| `produce/x` | 1.00 |\n")
}

// TestWrite: what is between the markers is replaced, and nothing else; the
// project's own page has them.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "BENCHMARKS.md")
	require.NoError(t, os.WriteFile(name, []byte("before\n"+page.Begin+"\nold\n"+page.End+"\nafter\n"), 0o600))
	r, err := sample(io.Discard)
	require.NoError(t, err)
	require.NoError(t, r.write(dir))
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(text), "before\n"+page.Begin+"\n\n3 counted rounds"))
	assert.True(t, strings.HasSuffix(string(text), " |\n\n"+page.End+"\nafter\n"))
	assert.NotContains(t, string(text), "old")

	require.NoError(t, os.WriteFile(name, []byte("none\n"), 0o600))
	assert.ErrorContains(t, r.write(dir), "no lines")

	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "BENCHMARKS.md"))
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(doc), page.Begin)
	assert.True(t, ok && strings.Contains(rest, page.End))
}
