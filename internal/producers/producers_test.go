package producers_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seglog/seglog/internal/producers"
	"github.com/seglog/seglog/internal/testkit"
	"github.com/seglog/seglog/record"
)

const (
	transactional = 1 << 4
	commit        = true
	abort         = false
)

// data is a batch of count records of producer 7.
func data(epoch int16, sequence int32, count int, attributes int16) *record.BatchHeader {
	return &record.BatchHeader{
		ProducerID: 7, ProducerEpoch: epoch, BaseSequence: sequence, LastOffsetDelta: int32(count - 1),
		Count: int32(count), Attributes: attributes, MaxTimestamp: 1000,
	}
}

// add checks a batch as a client's and appends it at the table's end.
func add(t testing.TB, table *producers.Table, h *record.BatchHeader) {
	t.Helper()
	dup, err := table.Check(h, producers.Client)
	require.NoError(t, err)
	require.Nil(t, dup)
	table.Append(h, table.Next())
}

func mark(t testing.TB, table *producers.Table, epoch int16, outcome bool) (producers.Txn, bool) {
	t.Helper()
	m := producers.Marker{ProducerID: 7, Epoch: epoch, Commit: outcome, Offset: table.Next(), Timestamp: 2000}
	require.NoError(t, table.CheckMarker(m, false))
	return table.AppendMarker(m)
}

func TestSequences(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(*producers.Table)
		batch *record.BatchHeader
		want  error
	}{
		{"an unknown producer may begin anywhere", func(*producers.Table) {}, data(3, 17, 1, 0), nil},
		{"the next", func(x *producers.Table) { add(t, x, data(0, 0, 3, 0)) }, data(0, 3, 1, 0), nil},
		{"a gap", func(x *producers.Table) { add(t, x, data(0, 0, 3, 0)) }, data(0, 4, 1, 0), producers.ErrOutOfOrder},
		{"back", func(x *producers.Table) { add(t, x, data(0, 0, 3, 0)) }, data(0, 2, 1, 0), producers.ErrOutOfOrder},
		{"an old epoch", func(x *producers.Table) { add(t, x, data(2, 0, 1, 0)) }, data(1, 0, 1, 0), producers.ErrFenced},
		{"a new epoch at 0", func(x *producers.Table) { add(t, x, data(2, 0, 9, 0)) }, data(3, 0, 1, 0), nil},
		{"a new epoch elsewhere", func(x *producers.Table) { add(t, x, data(2, 0, 9, 0)) }, data(3, 9, 1, 0), producers.ErrOutOfOrder},
		{"0 after the largest", func(x *producers.Table) { add(t, x, data(0, math.MaxInt32, 1, 0)) }, data(0, 0, 1, 0), nil},
		{"1 after the largest", func(x *producers.Table) { add(t, x, data(0, math.MaxInt32, 1, 0)) }, data(0, 1, 1, 0), producers.ErrOutOfOrder},
		{"a batch that wraps", func(x *producers.Table) { add(t, x, data(0, math.MaxInt32-1, 4, 0)) }, data(0, 2, 1, 0), nil},
		{"plain within a transaction", func(x *producers.Table) { add(t, x, data(0, 0, 1, transactional)) }, data(0, 1, 1, 0), producers.ErrTxnState},
		{"after a marker that raised the epoch, at 0", func(x *producers.Table) {
			add(t, x, data(0, 0, 5, transactional))
			mark(t, x, 1, commit)
		}, data(1, 0, 1, transactional), nil},
		{"after a marker that raised the epoch, going on", func(x *producers.Table) {
			add(t, x, data(0, 0, 5, transactional))
			mark(t, x, 1, commit)
		}, data(1, 5, 1, transactional), producers.ErrOutOfOrder},
		{"after a marker of the same epoch, going on", func(x *producers.Table) {
			add(t, x, data(0, 0, 5, transactional))
			mark(t, x, 0, commit)
		}, data(0, 5, 1, transactional), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var table producers.Table
			c.setup(&table)
			dup, err := table.Check(c.batch, producers.Client)
			assert.Nil(t, dup)
			if c.want == nil {
				assert.NoError(t, err)
			} else {
				assert.ErrorIs(t, err, c.want)
			}
			_, err = table.Check(c.batch, producers.Leader)
			assert.NoError(t, err, "what a leader took is taken")
		})
	}
}

func TestFiveDuplicatesAreAnswered(t *testing.T) {
	var table producers.Table
	for i := range int32(6) {
		add(t, &table, data(0, i*10, 10, 0))
	}
	for i := range int32(6) {
		dup, err := table.Check(data(0, i*10, 10, 0), producers.Client)
		if i == 0 {
			assert.ErrorIs(t, err, producers.ErrOutOfOrder, "the sixth last is forgotten")
			continue
		}
		require.NoError(t, err)
		require.NotNil(t, dup)
		assert.Equal(t, producers.Duplicate{First: int64(i) * 10, Last: int64(i)*10 + 9, Timestamp: 1000}, *dup)
	}
	_, err := table.Check(data(0, 50, 9, 0), producers.Client)
	assert.ErrorIs(t, err, producers.ErrOutOfOrder, "a part of a batch is no duplicate")
	wrapped := data(1, math.MaxInt32-4, 10, 0)
	table = producers.Table{}
	add(t, &table, wrapped)
	dup, err := table.Check(wrapped, producers.Client)
	require.NoError(t, err)
	assert.NotNil(t, dup, "sequences that wrap are recognised")
}

func TestTransactions(t *testing.T) {
	var table producers.Table
	add(t, &table, data(0, 0, 2, transactional)) // [0, 2)
	other := data(0, 0, 1, transactional)
	other.ProducerID = 8
	add(t, &table, other) // 2
	first, ok := table.FirstUnstable(3)
	assert.True(t, ok)
	assert.EqualValues(t, 0, first)

	txn, ok := mark(t, &table, 1, abort) // 3
	assert.True(t, ok)
	assert.Equal(t, producers.Txn{ProducerID: 7, First: 0, Last: 3, Aborted: true}, txn)
	assert.EqualValues(t, 2, table.StableAfter(txn), "the other one is still open")
	first, _ = table.FirstUnstable(3)
	assert.EqualValues(t, 0, first, "its marker is not below the high watermark")
	first, _ = table.FirstUnstable(4)
	assert.EqualValues(t, 2, first)

	txn, ok = table.AppendMarker(producers.Marker{ProducerID: 8, Epoch: 1, Commit: true, Offset: 4})
	assert.True(t, ok)
	assert.EqualValues(t, 5, table.StableAfter(txn))
	_, ok = table.FirstUnstable(5)
	assert.False(t, ok)
	_, ok = mark(t, &table, 1, commit)
	assert.False(t, ok, "nothing was open")
}

func TestMarkers(t *testing.T) {
	var table producers.Table
	add(t, &table, data(4, 0, 1, transactional))
	m := producers.Marker{ProducerID: 7, Epoch: 3}
	assert.ErrorIs(t, table.CheckMarker(m, false), producers.ErrFenced)
	m.Epoch = 4
	assert.NoError(t, table.CheckMarker(m, false), "transaction.version 0 and 1 keep the epoch")
	assert.ErrorIs(t, table.CheckMarker(m, true), producers.ErrFenced, "transaction.version 2 raises it")
	m.Epoch, m.CoordinatorEpoch = 5, 9
	assert.NoError(t, table.CheckMarker(m, true))
	table.AppendMarker(m)
	assert.NoError(t, table.CheckMarker(m, true), "a retry")
	m.CoordinatorEpoch = 8
	assert.ErrorIs(t, table.CheckMarker(m, true), producers.ErrCoordinatorFenced)
	assert.NoError(t, table.CheckMarker(producers.Marker{ProducerID: 99}, true), "a marker may be all there is of a producer")
}

func TestExpire(t *testing.T) {
	var table producers.Table
	add(t, &table, data(0, 0, 1, transactional))
	table.Expire(1<<60, 1)
	assert.Equal(t, 1, table.Len(), "an open transaction keeps its producer")
	mark(t, &table, 1, commit) // at 2000
	table.Expire(2999, 1000)
	assert.Equal(t, 1, table.Len())
	table.Expire(3000, 1000)
	assert.Zero(t, table.Len())
}

func TestSnapshotRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var table producers.Table
		for range rapid.IntRange(0, 40).Draw(rt, "steps") {
			h := data(int16(rapid.IntRange(0, 3).Draw(rt, "epoch")), rapid.Int32Range(0, 3).Draw(rt, "sequence"), rapid.IntRange(1, 3).Draw(rt, "count"),
				rapid.SampledFrom([]int16{0, transactional}).Draw(rt, "attributes"))
			h.ProducerID = rapid.Int64Range(0, 4).Draw(rt, "producer")
			if rapid.Bool().Draw(rt, "marker") {
				table.AppendMarker(producers.Marker{ProducerID: h.ProducerID, Epoch: h.ProducerEpoch, Offset: table.Next(), Timestamp: 5})
			} else {
				table.Append(h, table.Next())
			}
		}
		raw := table.Encode()
		again, err := producers.Decode(raw, table.Next())
		require.NoError(rt, err)
		assert.Equal(rt, raw, again.Encode())
		assert.Equal(rt, table.Producers(), again.Producers())
		a, aok := table.FirstUnstable(math.MaxInt64)
		b, bok := again.FirstUnstable(math.MaxInt64)
		assert.Equal(rt, aok, bok)
		assert.Equal(rt, a, b)
		if len(raw) > 10 {
			at := rapid.IntRange(0, len(raw)-1).Draw(rt, "at")
			raw[at] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
			_, err = producers.Decode(raw, 0)
			assert.Error(rt, err, "byte %d", at)
		}
	})
}

func TestSnapshotRefused(t *testing.T) {
	for n := range 10 {
		_, err := producers.Decode(make([]byte, n), 0)
		assert.Error(t, err)
	}
	_, err := producers.Decode(append(new(producers.Table).Encode(), 0), 0)
	assert.Error(t, err)
}

// Every snapshot that Kafka wrote decodes and encodes to the same producers.
func TestKafkaSnapshots(t *testing.T) {
	root := testkit.KafkaDirs(t)
	n := 0
	_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.Contains(d.Name(), ".snapshot") {
			return nil
		}
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		table, err := producers.Decode(raw, 0)
		require.NoError(t, err, path)
		again, err := producers.Decode(table.Encode(), 0)
		require.NoError(t, err)
		assert.Equal(t, table.Producers(), again.Producers(), path)
		assert.Len(t, table.Encode(), len(raw), path)
		n++
		return nil
	})
	require.NotZero(t, n)
	t.Logf("%d snapshots", n)
}

// TestEmptiedMarker: a marker without its record has the producer's epoch, and
// its transaction is over.
func TestEmptiedMarker(t *testing.T) {
	var table producers.Table
	const transactional = 0x10
	table.Append(&record.BatchHeader{ProducerID: 7, LastOffsetDelta: 1, Attributes: transactional}, 3)
	_, open := table.FirstUnstable(10)
	require.True(t, open)
	table.AppendEmptied(&record.BatchHeader{BaseOffset: 5, ProducerID: 7, ProducerEpoch: 2, MaxTimestamp: 9})
	_, open = table.FirstUnstable(10)
	assert.False(t, open)
	got := table.Producers()[0]
	assert.Equal(t, []int64{2, -1, 9, 6}, []int64{int64(got.Epoch), got.TxnFirst, got.LastTimestamp, table.Next()})
}
