package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestServeSettings: the file is under --set, and both are under the flags.
func TestServeSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "server.properties")
	require.NoError(t, os.WriteFile(file, []byte("# a broker\nlog.dirs=/theirs\nnum.partitions = 2\nlisteners=PLAINTEXT://:9092\nlog.retention.hours=5\n"), 0o600))
	f := serveFlags{config: file}
	got, err := f.settings()
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"log.dirs": "/theirs", "num.partitions": "2", "listeners": "PLAINTEXT://:9092", "log.retention.hours": "5"}, got)

	f = serveFlags{config: file, data: "/ours", listen: "127.0.0.1:1", set: []string{"num.partitions=3", "log.message.timestamp.type=CreateTime"}}
	got, err = f.settings()
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"log.dirs": "/ours", "num.partitions": "3", "listeners": "PLAINTEXT://127.0.0.1:1",
		"log.retention.hours": "5", "log.message.timestamp.type": "CreateTime"}, got)

	for what, f := range map[string]serveFlags{
		"no directory":    {},
		"no pair":         {data: "d", set: []string{"num.partitions"}},
		"no key":          {data: "d", set: []string{"=1"}},
		"no address":      {data: "d", listen: "9092"},
		"two directories": {set: []string{"log.dirs=a,b"}},
	} {
		_, err := f.settings()
		assert.ErrorAs(t, err, new(usageError), what)
	}
}
