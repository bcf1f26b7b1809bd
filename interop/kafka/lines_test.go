package kafka

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// found is a record as it has to be found: the text is exact, and the same
// whoever read it.
type found struct {
	offset  int64
	time    int64  // ms, -1 none
	text    string // as Reader.java prints it
	aborted bool   // not for read_committed
	key     string // not of what Kafka's consumer read
	null    bool   // a tombstone
}

// line is the text of a record.
func line(r record.Record) found {
	var b strings.Builder
	fmt.Fprintf(&b, "%d\t%d\t%s\t%s\t%s\t", r.Offset, millis(r), r.TimestampType, brief(r.Key), brief(r.Value))
	for i, h := range r.Headers {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(brief([]byte(h.Key)) + "=" + brief(h.Value))
	}
	return found{offset: r.Offset, time: millis(r), text: b.String(), key: brief(r.Key), null: r.Value == nil}
}

func millis(r record.Record) int64 {
	if r.Time.IsZero() {
		return -1
	}
	return r.Time.UnixMilli()
}

// brief is bytes as text: null apart from empty, and long ones by their hash.
func brief(b []byte) string {
	switch {
	case b == nil:
		return "-"
	case len(b) > 48:
		sum := sha256.Sum256(b)
		return fmt.Sprintf("%d:%x", len(b), sum)
	}
	return hex.EncodeToString(b)
}

// readAll is every record that the engine gives.
func readAll(t *testing.T, l *log.Log) []found {
	t.Helper()
	var all []found
	for r, err := range l.From(l.First()) {
		require.NoError(t, err)
		all = append(all, line(r))
	}
	return all
}

// readCommitted is what the engine gives to who reads committed records only.
func readCommitted(t *testing.T, l *log.Log) []found {
	t.Helper()
	var all []found
	for r, err := range l.Isolated(log.ReadCommitted).From(l.First()) {
		require.NoError(t, err)
		all = append(all, line(r))
	}
	return all
}

// byAbortedIndex is the same as a Kafka client does it: batches as they are,
// less those of the aborted transactions that a fetch tells of.
func byAbortedIndex(t *testing.T, l *log.Log) []found {
	t.Helper()
	stable := l.LastStable()
	aborted := l.Aborted(l.First(), stable)
	var all []found
	for at := l.First(); at < l.End(); {
		v, err := l.Borrow(at, 1<<20)
		require.NoError(t, err)
		for b := range v.Batches() {
			out := b.Control()
			for _, a := range aborted {
				out = out || b.Transactional() && a.ProducerID == b.ProducerID && a.First <= b.BaseOffset && b.BaseOffset < a.Last
			}
			var d record.Decoder
			for r, err := range d.Records(b) {
				require.NoError(t, err)
				if !out && r.Offset >= l.First() && r.Offset < stable {
					all = append(all, line(r))
				}
			}
		}
		at = v.Next()
		v.Release()
	}
	return all
}

// sameRecords says where two readings first differ.
func sameRecords(t *testing.T, who string, want, got []found) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		require.Equal(t, want[i].text, got[i].text, "record %d of %d, %s", i, len(want), who)
	}
	require.Equal(t, len(want), len(got), "records, %s", who)
}

// from is the records at and above offset.
func from(all []found, offset int64) []found {
	for i, f := range all {
		if f.offset >= offset {
			return all[i:]
		}
	}
	return nil
}

// committed leaves out what was aborted, and what is at or above the last
// stable offset.
func committed(all []found, stable int64) []found {
	var list []found
	for _, f := range all {
		if !f.aborted && f.offset < stable {
			list = append(list, f)
		}
	}
	return list
}
