package log_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/testkit"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/retention/compact"
)

// TestCompactKafkaDirs: what Kafka's cleaner left can be compacted further, a
// day and a year later: the newest record of each key is what it was, and the
// log verifies.
func TestCompactKafkaDirs(t *testing.T) {
	root := testkit.KafkaDirs(t)
	for _, name := range []string{"compact-mid/compact-mid-0", "compact-horizon/__consumer_offsets-2", "compact-27/__consumer_offsets-39",
		"compact-connect/docker-connect-offsets-18", "compact-connect/docker-connect-status-2", "txn-v2/txn-v2-0"} {
		t.Run(name, func(t *testing.T) {
			dir := testkit.CopyTree(t, filepath.Join(root, filepath.Dir(name)))
			dir = filepath.Join(dir, filepath.Base(name))
			o := log.Options{SegmentBytes: 64 << 10, Compaction: &compact.Options{DeleteRetention: time.Hour}}
			now := time.Now()
			o.Env.Now = func() time.Time { return now }
			for i, age := range []time.Duration{24 * time.Hour, 400 * 24 * time.Hour} {
				now = now.Add(age)
				_ = os.Remove(filepath.Join(dir, recovery.CheckpointName)) // all of it is dirty each time
				l := open(t, dir, o)
				roll(t, l)
				want := values(t, l)
				r := compacted(t, l)
				require.Empty(t, r.Plan.Skip)
				require.Equal(t, want, values(t, l))
				require.NoError(t, l.Close())
				v, err := log.Verify(ctx, dir, o, nil)
				require.NoError(t, err)
				require.Empty(t, v.Faults)
				if i > 0 {
					require.Positive(t, r.Replaced)
				}
			}
		})
	}
}

// values is the newest value of each key that has one.
func values(t testing.TB, l *log.Log) map[string]string {
	t.Helper()
	newest := make(map[string]string)
	for _, r := range withAll(t, l) {
		if newest[string(r.Key)] = string(r.Value); r.Value == nil {
			delete(newest, string(r.Key))
		}
	}
	return newest
}
