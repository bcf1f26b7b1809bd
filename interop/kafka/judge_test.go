package kafka

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/apache"
)

// toolTime bounds one call of a tool.
const toolTime = 2 * time.Minute

// judge is Kafka: its tools, and its consumer, as testdata/Reader.java and
// testdata/Consumer.java use it.
type judge struct{ apache.Kafka }

// findJudge makes Kafka ready, or says what is missing.
func findJudge(classes string) (judge, error) {
	k, err := apache.Install(context.Background())
	if err != nil {
		return judge{}, err
	}
	k, err = k.Compile(context.Background(), classes, filepath.Join("testdata", "Reader.java"), filepath.Join("testdata", "Consumer.java"))
	return judge{k}, err
}

// tool runs one of Kafka's tools, or a class of testdata, to its end, which has to be
// a good one.
func (j judge) tool(t *testing.T, class string, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, err := j.try(t, class, args...)
	require.NoError(t, err, "%s %.200s\n%.3000s", class, strings.Join(args, " "), stderr)
	return stdout, stderr
}

// try runs one of Kafka's tools.
func (j judge) try(t *testing.T, class string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), toolTime)
	defer cancel()
	cmd := j.Command(ctx, class, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}
