package metrics

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

func ask(t *testing.T, m *Metrics) (int, health) {
	t.Helper()
	w := httptest.NewRecorder()
	m.Health().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	var h health
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &h))
	return w.Code, h
}

// TestHealth: it is well while it serves, and only then.
func TestHealth(t *testing.T) {
	m := New()
	code, h := ask(t, m)
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Equal(t, "opening", h.Status)

	b, err := broker.Open(t.TempDir(), broker.Options{})
	require.NoError(t, err)
	m.Serving(b)
	code, h = ask(t, m)
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, health{Status: "serving"}, h)

	m.Closing()
	code, h = ask(t, m)
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Equal(t, "closing", h.Status)
	require.NoError(t, b.Close())
}

// TestFailedLog: a sync that failed is a reason, since only another opening
// mends it.
func TestFailedLog(t *testing.T) {
	disk := vfs.NewFaulty(vfs.NewMem())
	s := serve(t, broker.Options{Env: log.Env{FS: disk}, Config: map[string]string{"log.segment.bytes": "1048576"}})
	s.topic("t", 2, nil)
	_, err := s.b.Produce(t.Context(), "t", 1, record.Record{Value: []byte("x")})
	require.NoError(t, err)
	disk.Add(vfs.Rule{Op: vfs.OpSync, Err: errors.New("the disk is broken")})
	require.ErrorIs(t, partition(t, s.b, "t", 1).Sync(t.Context()), log.ErrFailed)

	code, h := ask(t, s.m)
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Equal(t, "failed", h.Status)
	require.Len(t, h.Reasons, 1)
	assert.Contains(t, h.Reasons[0], "t-1: ")
	assert.Contains(t, h.Reasons[0], "the disk is broken")
	assert.EqualValues(t, 1, s.value(flushErrs))
	assert.EqualValues(t, 1, s.value(offline))
	assert.EqualValues(t, 1, s.value(offlineDirs))

	_, err = s.b.Produce(t.Context(), "t", 1, record.Record{Value: []byte("x")})
	require.Error(t, err)
	assert.EqualValues(t, 1, s.value(failedProduces, "topic", "t"), "it is the broker's failure")
}

// TestDirectoryGone: so is a directory that is not there any more.
func TestDirectoryGone(t *testing.T) {
	s := serve(t, broker.Options{})
	meta := filepath.Join(s.b.Dir(), "meta.properties")
	require.NoError(t, os.Rename(meta, meta+".aside"))
	code, h := ask(t, s.m)
	assert.Equal(t, http.StatusServiceUnavailable, code)
	require.Len(t, h.Reasons, 1)
	assert.Contains(t, h.Reasons[0], "meta.properties")
	assert.EqualValues(t, 1, s.value(offlineDirs))
	require.NoError(t, os.Rename(meta+".aside", meta))
	code, _ = ask(t, s.m)
	assert.Equal(t, http.StatusOK, code)
}

// TestOfflinePartition: a partition that could not be opened is told of while
// the others are served.
func TestOfflinePartition(t *testing.T) {
	dir := t.TempDir()
	b, err := broker.Open(dir, broker.Options{})
	require.NoError(t, err)
	_, err = b.CreateTopic(t.Context(), broker.TopicSpec{Name: "t", Partitions: 2})
	require.NoError(t, err)
	for range 2 {
		_, err = b.Produce(t.Context(), "t", 1, record.Record{Value: []byte("some value")})
		require.NoError(t, err)
	}
	require.NoError(t, b.Close())
	// Another program's close, so that all is verified, and a bad first batch.
	require.NoError(t, os.Remove(filepath.Join(dir, "t-1", "seglog.checkpoint")))
	name := filepath.Join(dir, "t-1", "00000000000000000000.log")
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	content[70] ^= 0xff
	require.NoError(t, os.WriteFile(name, content, 0o600))

	b, err = broker.Open(dir, broker.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	m := New()
	m.Serving(b)
	code, h := ask(t, m)
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, "serving", h.Status)
	require.Len(t, h.Offline, 1)
	assert.Contains(t, h.Offline[0], "t-1: ")
	s := &served{t: t, m: m}
	assert.EqualValues(t, 2, s.value(partitions))
	assert.EqualValues(t, 1, s.value(leaders))
	assert.EqualValues(t, 1, s.value(offline))
	assert.EqualValues(t, 0, s.value(offlineDirs))
}
