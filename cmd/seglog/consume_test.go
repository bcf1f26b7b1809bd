//go:build !windows

package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// served is a broker that listens, until it is stopped.
type served struct {
	*broker.Broker
	t       *testing.T
	address string
	mute    atomic.Bool // its answers get lost
	stop    func()
}

func startBroker(t *testing.T, topics ...broker.TopicSpec) *served {
	t.Helper()
	s := &served{t: t}
	b, address, stop, err := serveBroker(filepath.Join(t.TempDir(), "d"), &s.mute)
	require.NoError(t, err)
	s.Broker, s.address = b, address
	stopped := false
	s.stop = func() {
		if !stopped {
			stopped = true
			require.NoError(t, stop())
		}
	}
	t.Cleanup(s.stop)
	for _, spec := range topics {
		_, err := b.CreateTopic(t.Context(), spec)
		require.NoError(t, err)
	}
	return s
}

func (s *served) log(topic string) *log.Log {
	s.t.Helper()
	p, err := s.Partition(topic, 0)
	require.NoError(s.t, err)
	l, err := p.Log()
	require.NoError(s.t, err)
	return l
}

func (s *served) consume(args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "seglog", append([]string{"consume", "-q", "-b", s.address}, args...)...).Output()
	require.NoError(s.t, err, "consume %q", args)
	return string(out)
}

// transactional appends a batch of a transaction that is open.
func transactional(t *testing.T, l *log.Log, producer int64, values ...string) {
	t.Helper()
	var b record.Builder
	b.Reset(record.BatchOptions{Transactional: true, Producer: &record.Producer{ID: producer}})
	for _, v := range values {
		require.NoError(t, b.Add(&record.Record{Time: time.Now(), Value: []byte(v)}))
	}
	raw, err := b.Build()
	require.NoError(t, err)
	_, err = l.AppendBatch(raw, log.FromClient)
	require.NoError(t, err)
}

// compactedAway appends a batch as compaction leaves it of which no record is
// left: its header, which covers n offsets.
func compactedAway(t *testing.T, l *log.Log, n int) {
	t.Helper()
	var b record.Builder
	b.Reset(record.BatchOptions{BaseOffset: l.End(), LeaderEpoch: l.LeaderEpoch()})
	for range n {
		require.NoError(t, b.Add(&record.Record{Time: time.Now()}))
	}
	raw, err := b.Build()
	require.NoError(t, err)
	const length, sum, attributes, count = 8, 17, 21, 57
	raw = append([]byte(nil), raw[:record.HeaderSize]...)
	binary.BigEndian.PutUint32(raw[length:], record.HeaderSize-12)
	binary.BigEndian.PutUint32(raw[count:], 0)
	binary.BigEndian.PutUint32(raw[sum:], crc32.Checksum(raw[attributes:], crc32.MakeTable(crc32.Castagnoli)))
	_, err = l.AppendBatch(raw, log.FromLeader)
	require.NoError(t, err)
}

// Consuming ends at the end of a partition also where there are no records up to
// it: what transactions and compaction have left there is none.
func TestConsumeEndsWithoutRecords(t *testing.T) {
	t.Parallel()
	s := startBroker(t, broker.TopicSpec{Name: "aborted"}, broker.TopicSpec{Name: "compacted"}, broker.TopicSpec{Name: "open"}, broker.TopicSpec{Name: "nothing"})
	for _, topic := range []string{"aborted", "compacted", "open"} {
		_, err := s.log(topic).Append(record.Record{Time: time.Now(), Value: []byte("there")})
		require.NoError(t, err)
	}
	transactional(t, s.log("aborted"), 7, "never", "was")
	_, err := s.log("aborted").EndTransaction(log.EndTxn{ProducerID: 7})
	require.NoError(t, err)
	transactional(t, s.log("open"), 7, "undecided")
	compactedAway(t, s.log("compacted"), 5)
	require.Equal(t, int64(6), s.log("compacted").End())
	compactedAway(t, s.log("nothing"), 3)
	compactedAway(t, s.log("nothing"), 3)

	for level, want := range map[string]map[string]string{
		"read_committed":   {"aborted": "there\n", "compacted": "there\n", "open": "there\n", "nothing": ""},
		"read_uncommitted": {"aborted": "there\nnever\nwas\n", "compacted": "there\n", "open": "there\nundecided\n", "nothing": ""},
	} {
		for topic, text := range want {
			require.Equal(t, text, s.consume(topic, "-e", "--isolation", level), "%s, %s", topic, level)
			require.Equal(t, text, s.consume(topic, "-e", "--isolation", level, "-G", topic+level), "%s, %s, a group", topic, level)
			require.Empty(t, s.consume(topic, "-e", "--isolation", level, "-G", topic+level), "%s, %s, the group again", topic, level)
		}
	}
	require.Equal(t, "there\n", s.consume("aborted", "-e", "-o", "-4", "--isolation", "read_committed"))
}

// A member that is stopped commits what it has printed, and the next one goes on
// there.
func TestConsumeGroupStopped(t *testing.T) {
	t.Parallel()
	s := startBroker(t, broker.TopicSpec{Name: "t", Partitions: 2})
	produce := func(from, to int) {
		for i := from; i < to; i++ {
			_, err := s.Produce(t.Context(), "t", int32(i%2), record.Record{Time: time.Now(), Value: fmt.Append(nil, i)})
			require.NoError(t, err)
		}
	}
	produce(0, 20)
	p := start(t, "consume", "t", "-G", "g", "-b", s.address)
	got := make(map[string]int)
	for range 20 {
		got[p.line()]++
	}
	p.signal(os.Interrupt)
	require.Equal(t, 0, p.exit(), "%s", &p.stderr)
	require.Contains(t, p.stderr.String(), "consumed 20 records")
	produce(20, 30)
	for line := range strings.Lines(s.consume("t", "-G", "g", "-e")) {
		got[strings.TrimSpace(line)]++
	}
	want := make(map[string]int)
	for i := range 30 {
		want[fmt.Sprint(i)] = 1
	}
	require.Equal(t, want, got)
	require.Contains(t, seglog(t, "groups", "describe", "g", "-b", s.address), "0          15         15   0    -")
}

// Records are printed as they come. A topic that is deleted and a broker that is
// gone end it.
func TestConsumeWaits(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]func(*served){
		"topic t was deleted meanwhile": func(s *served) { require.NoError(s.t, s.DeleteTopic("t")) },
		"does not answer any more":      func(s *served) { s.stop() },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := startBroker(t, broker.TopicSpec{Name: "t"})
			p := start(t, "consume", "t", "-o", "0", "-b", s.address)
			for _, value := range []string{"one", "two"} {
				_, err := s.Produce(t.Context(), "t", 0, record.Record{Time: time.Now(), Value: []byte(value)})
				require.NoError(t, err)
				require.Equal(t, value, p.line())
			}
			end(s)
			require.Equal(t, exitFault, p.exit())
			require.Contains(t, p.stderr.String(), what)
		})
	}
}

// Partitions that a topic gets are read as well, from their beginning.
func TestConsumeNewPartitions(t *testing.T) {
	t.Parallel()
	s := startBroker(t, broker.TopicSpec{Name: "t"})
	produce := func(partition int32, value string) {
		_, err := s.Produce(t.Context(), "t", partition, record.Record{Time: time.Now(), Value: []byte(value)})
		require.NoError(t, err)
	}
	produce(0, "before")
	p := start(t, "consume", "t", "-f", "%p %o %s\\n", "-b", s.address)
	require.Equal(t, "0 0 before", p.line())
	require.NoError(t, s.CreatePartitions(t.Context(), "t", 2, false))
	produce(1, "after")
	require.Equal(t, "1 0 after", p.line())
	p.signal(os.Interrupt)
	require.Equal(t, 0, p.exit())
}
