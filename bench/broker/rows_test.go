package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/broker/kafka"
)

// inThisProcess is seglog's broker where it can be looked into; it cannot be
// restarted.
func inThisProcess(t *testing.T) *node {
	t.Helper()
	b, err := broker.Open(t.TempDir(), broker.Options{Config: map[string]string{"log.segment.bytes": "8388608", "log.segment.delete.delay.ms": "1"}})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- kafka.Serve(ctx, l, b) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, b.Close())
	})
	return &node{name: ours, dir: b.Dir(), process: self(l.Addr().String())}
}

// self is this process, serving at an address.
type self string

func (a self) Addr() string { return string(a) }
func (self) PID() int       { return os.Getpid() }
func (self) Stop() error    { return nil }

// TestRows: each row that needs no restart and few partitions does its work and
// has figures, all of one kind the same. That what was sent has arrived the rows
// check themselves.
func TestRows(t *testing.T) {
	n := inThisProcess(t)
	how := amounts{bytes: 1 << 20, seconds: 1}
	kinds := make(map[string]string)
	for _, r := range rows() {
		if strings.Contains(r.name, "cold") || strings.HasPrefix(r.name, "start") || strings.Contains(r.name, "p=100") {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		if r.prepare != nil {
			require.NoError(t, r.prepare(ctx, n, how), r.name)
		}
		f, err := r.measure(ctx, n, how)
		require.NoError(t, err, r.name)
		if r.cleanup != nil {
			require.NoError(t, r.cleanup(ctx, n), r.name)
		}
		cancel()
		for unit, v := range f {
			if unit != cpuPerGB && unit != cores { // which may be less than a tick
				assert.Positive(t, v, "%s: %s", r.name, unit)
			}
		}
		kind, _, _ := strings.Cut(r.name, "/")
		var has []string
		for _, unit := range units {
			if _, ok := f[unit]; ok {
				has = append(has, unit)
			}
		}
		if kinds[kind] == "" {
			kinds[kind] = strings.Join(has, ", ")
		}
		assert.Equal(t, kinds[kind], strings.Join(has, ", "), r.name)
	}
	assert.Equal(t, map[string]string{"produce": "MB/s, CPU s/GB", "consume": "MB/s, CPU s/GB",
		"acknowledge": "p50 ms, p99 ms, p99.9 ms, cores", "arrive": "p50 ms, p99 ms, p99.9 ms, cores"}, kinds)
}

// TestLostRecords: a row fails if not all that was sent is there.
func TestLostRecords(t *testing.T) {
	n := inThisProcess(t)
	of := load{size: 100, partitions: 1}
	topic, err := n.create(t.Context(), 1)
	require.NoError(t, err)
	b, err := of.batch()
	require.NoError(t, err)
	b.raw[len(b.raw)-1] ^= 1 // the broker refuses it
	_, err = n.produce(t.Context(), topic, of, 1, b, amounts{bytes: 1 << 20})
	assert.ErrorContains(t, err, "0 are there")
}

// TestForget: what was forgotten is counted as not resident, and what is in use
// as resident, so that a row cannot be cold by mistake.
func TestForget(t *testing.T) {
	name := filepath.Join(t.TempDir(), "some.log")
	require.NoError(t, os.WriteFile(name, make([]byte, 1<<20), 0o600))
	resident, pages, err := forget(name)
	require.NoError(t, err)
	assert.EqualValues(t, (1<<20)/os.Getpagesize(), pages)
	assert.LessOrEqual(t, resident, pages)
}

func TestPercentiles(t *testing.T) {
	var took []time.Duration
	for i := 1000; i > 0; i-- {
		took = append(took, time.Duration(i)*time.Millisecond)
	}
	assert.Equal(t, figures{p50: 501, p99: 991, p999: 1000}, percentiles(took))
	assert.Equal(t, figures{p50: 1, p99: 1, p999: 1}, percentiles([]time.Duration{time.Millisecond}))
}
