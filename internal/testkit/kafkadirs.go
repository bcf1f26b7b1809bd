// Package testkit is what tests of several packages share.
package testkit

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// KafkaDirsEnv names a folder of log directories written by Apache Kafka, in
// place of ../shared/kafka-dirs beside the module.
const KafkaDirsEnv = "SEGLOG_KAFKA_DIRS"

// KafkaDirs is the folder of log directories written by Apache Kafka. Where it
// is missing the test is skipped, and says so.
func KafkaDirs(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(KafkaDirsEnv)
	if dir == "" {
		dir = filepath.Join(ModuleRoot(t), "..", "shared", "kafka-dirs")
	}
	if _, err := os.Stat(filepath.Join(dir, "README.md")); err != nil {
		t.Skipf("NOTHING OF KAFKA'S OWN WAS READ: %v (%s may name the folder)", err, KafkaDirsEnv)
	}
	return dir
}

// ModuleRoot is the directory of go.mod.
func ModuleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		require.NotEqual(t, dir, parent, "no go.mod above the test")
		dir = parent
	}
}

// CopyTree copies a directory, writable, and returns where to.
func CopyTree(t testing.TB, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(from))
	require.NoError(t, filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), content, 0o644)
	}))
	return to
}

// Snapshot is the names, sizes and hashes of all files below a directory.
func Snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files[rel] = fmt.Sprintf("%d %x", len(content), sha256.Sum256(content))
		return err
	}))
	return files
}
