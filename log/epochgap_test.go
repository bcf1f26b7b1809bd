package log

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/epochs"
	"github.com/seglog/seglog/record"
)

// TestEpochsOfAGapAtTheEnd: epochs that begin where compaction has left no batch
// any more are known from the file, as long as the log reaches that far.
func TestEpochsOfAGapAtTheEnd(t *testing.T) {
	var file epochs.History
	for _, e := range []epochs.Entry{{Epoch: 0, Start: 0}, {Epoch: 2, Start: 5}, {Epoch: 3, Start: 7}} {
		require.True(t, file.Assign(e.Epoch, e.Start))
	}
	for _, c := range []struct {
		name    string
		batches []record.BatchHeader
		end     int64
		want    []epochs.Entry
	}{
		{"no batch is left", nil, 9, file.Entries()},
		{"those of the last epochs are gone", []record.BatchHeader{{BaseOffset: 0}, {BaseOffset: 3}}, 9, file.Entries()},
		{"a batch says otherwise twice", []record.BatchHeader{{BaseOffset: 0, LeaderEpoch: 1}, {BaseOffset: 3, LeaderEpoch: 1}}, 9,
			[]epochs.Entry{{Epoch: 1, Start: 0}}},
	} {
		w := watchEpochs(epochs.History{}, file, true, 0, 0)
		for i := range c.batches {
			w.batch(&c.batches[i])
		}
		got := w.end(c.end)
		require.Equal(t, c.want, got.Entries(), c.name)
	}
}
