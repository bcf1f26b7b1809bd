package metrics

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "bring the table in docs/OPERATIONS.md up to date")

const (
	begin = "<!-- metrics: go test ./broker/metrics -rewrite -->\n"
	end   = "<!-- end of metrics -->\n"
)

// TestDocs: the documentation has the catalogue, and nothing else.
func TestDocs(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "OPERATIONS.md")
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(strings.ReplaceAll(string(content), "\r\n", "\n"), begin)
	require.True(t, ok, "the marker is gone")
	have, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "the marker is gone")
	if *rewrite {
		require.NoError(t, os.WriteFile(name, []byte(before+begin+table()+end+after), 0o644))
		return
	}
	assert.Equal(t, table(), have, "go test ./broker/metrics -rewrite brings the table up to date")
}

func table() string {
	var b strings.Builder
	b.WriteString("| name | labels | type | unit | meaning |\n|---|---|---|---|---|\n")
	for _, m := range catalogue {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.name, strings.Join(m.labels, ", "), m.kind, m.unit, m.help)
	}
	return b.String()
}
