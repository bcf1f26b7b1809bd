package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// scriptEnv names the script that runs Kafka and its tools, in place of
// ../shared/kafka/kafka beside the checkout.
const scriptEnv = "SEGLOG_KAFKA"

// toolTime bounds one call of a tool.
const toolTime = 2 * time.Minute

// judge is Kafka: its tools, and the consumer in testdata/Reader.java.
type judge struct {
	script    string
	classpath string // with Reader
}

// findJudge makes Kafka ready, or says what is missing.
func findJudge(classes string) (judge, error) {
	j := judge{script: os.Getenv(scriptEnv)}
	if j.script == "" {
		root, err := engineRoot()
		if err != nil {
			return j, err
		}
		j.script = filepath.Join(root, "..", "shared", "kafka", "kafka")
	}
	if _, err := os.Stat(j.script); err != nil {
		return j, fmt.Errorf("%w (%s may name the script)", err, scriptEnv)
	}
	for _, tool := range []string{"bash", "java", "javac", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			return j, fmt.Errorf("it needs a JDK of 17 or later and Maven: %w", err)
		}
	}
	out, err := j.command(context.Background(), "classpath").Output()
	if err != nil {
		return j, fmt.Errorf("Kafka's jars: %w%s", err, stderrOf(err))
	}
	jars := strings.TrimSpace(string(out))
	if err := os.MkdirAll(classes, 0o755); err != nil {
		return j, err
	}
	compile := exec.Command("javac", "-cp", jars, "-d", classes, filepath.Join("testdata", "Reader.java"))
	if out, err := compile.CombinedOutput(); err != nil {
		return j, fmt.Errorf("javac (a JDK of 17 or later?): %w\n%s", err, out)
	}
	j.classpath = classes + ":" + jars
	return j, nil
}

// engineRoot is the engine's checkout: the folder of its go.mod, above this
// module's own.
func engineRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module github.com/seglog/seglog\n") {
			return dir, nil
		}
	}
	return "", errors.New("no go.mod of the engine above this folder")
}

func (j judge) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, j.script, args...)
	cmd.Env = append(os.Environ(),
		"KAFKA_JUDGE_JVM="+def(os.Getenv("KAFKA_JUDGE_JVM"), "-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"),
		"KAFKA_JUDGE_BROKER_JVM="+def(os.Getenv("KAFKA_JUDGE_BROKER_JVM"), "-Xms128m -Xmx384m -XX:+UseSerialGC"))
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// tool runs one of Kafka's tools to its end, which has to be a good one.
func (j judge) tool(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, err := j.try(t, args...)
	require.NoError(t, err, "kafka %.200s\n%.2000s", strings.Join(args, " "), stderr)
	return stdout, stderr
}

// try runs one of Kafka's tools.
func (j judge) try(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), toolTime)
	defer cancel()
	cmd := j.command(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// java runs a class of testdata, as tool does.
func (j judge) java(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), toolTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "java", append([]string{"-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-Dlog4j2.configurationFile=" + filepath.Join(filepath.Dir(j.script), "log4j2.xml"), "-cp", j.classpath}, args...)...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	require.NoError(t, err, "java %.200s\n%.3000s", strings.Join(args, " "), stderrOf(err))
	return string(out)
}

func stderrOf(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "\n" + string(exit.Stderr)
	}
	return ""
}

func def(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}
