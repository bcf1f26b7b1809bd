package broker

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// notServed are the scenarios about what the broker does not advertise.
const notServed = `^(reassign|other-admin|init-transactions|transaction|transaction-v2|` +
	`transaction-offsets|list-transactions|transactions-topic|new-group)$`

var (
	told    = regexp.MustCompile(`(?m)^(DIFFERS|MISSING) (\S+)`)
	summary = regexp.MustCompile(`(?m)^\d+ the same.*$`)
)

// TestAnswers asks the broker what Kafka was asked. The cases that differ on
// purpose are in testdata/differences.txt, by the reason, which
// docs/KAFKA-DIFFERENCES.md says more of: no more may, and no fewer do.
func TestAnswers(t *testing.T) {
	dir := os.Getenv("SEGLOG_KAFKA_ANSWERS")
	if dir == "" {
		dir = filepath.Join(root(t), "..", "shared", "kafka-answers")
	}
	if _, err := os.Stat(filepath.Join(dir, "answers.jsonl")); err != nil {
		t.Skipf("NOTHING WAS COMPARED WITH KAFKA: %v (SEGLOG_KAFKA_ANSWERS may name the folder)", err)
	}
	probe := build(t, dir, ".")
	cmd := exec.Command(probe, "-addr", started(t, "num.partitions=1", "group.initial.rebalance.delay.ms=0").Addr(), "-compare", "answers.jsonl", "-skip", notServed)
	cmd.Dir = dir
	out, _ := cmd.CombinedOutput() // its status says only that something differs
	require.Regexp(t, summary, string(out))
	t.Log(summary.FindString(string(out)))

	var differ []string
	for _, m := range told.FindAllStringSubmatch(string(out), -1) {
		differ = append(differ, m[2])
	}
	text, err := os.ReadFile("testdata/differences.txt")
	require.NoError(t, err)
	var known []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			known = append(known, line)
		}
	}
	slices.Sort(differ)
	slices.Sort(known)
	if !assert.Equal(t, known, differ) {
		t.Logf("%s", out)
	}
}
