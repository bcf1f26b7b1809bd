//go:build !windows

package main

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestServeObserved: with --metrics there is an address beside the broker's;
// profiles are there only if they were asked for.
func TestServeObserved(t *testing.T) {
	for _, pprof := range []bool{false, true} {
		args := []string{"serve", "--data", filepath.Join(t.TempDir(), "d"), "--listen", "127.0.0.1:0", "--metrics", ":0", "--log-level", "info", "--log-format", "json"}
		if pprof {
			args = append(args, "--pprof")
		}
		p := start(t, args...)
		address, ok := strings.CutPrefix(p.line(), "metrics on ")
		require.True(t, ok)
		require.True(t, strings.HasPrefix(address, "http://127.0.0.1:"), "%s is not of loopback", address)
		require.Contains(t, p.line(), "serving 0 topics")

		base := strings.TrimSuffix(address, "/metrics")
		code, body := get(t, base+"/metrics")
		assert.Equal(t, http.StatusOK, code)
		assert.Contains(t, body, "\nkafka_server_kafkaserver_brokerstate 3\n")
		assert.Contains(t, body, "\nprocess_cpu_seconds_total ")
		code, body = get(t, base+"/healthz")
		assert.Equal(t, http.StatusOK, code)
		assert.JSONEq(t, `{"status":"serving"}`, body)
		code, _ = get(t, base+"/debug/pprof/goroutine?debug=1")
		assert.Equal(t, map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[pprof], code)

		p.signal(syscall.SIGTERM)
		assert.Zero(t, p.exit(), "stderr: %s", &p.stderr)
		assert.Contains(t, p.stderr.String(), `"level":"INFO","msg":"closing"}`)
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

func TestLoopbackUnlessSaid(t *testing.T) {
	for given, want := range map[string]string{":9308": "127.0.0.1:9308", "0.0.0.0:1": "0.0.0.0:1", "[::1]:2": "[::1]:2", "host:3": "host:3"} {
		got, err := loopbackUnlessSaid(given)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := loopbackUnlessSaid("9308")
	assert.Error(t, err)
}
