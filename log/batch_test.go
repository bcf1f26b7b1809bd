package log_test

import (
	"encoding/binary"
	"hash/crc32"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// seal redoes the checksum of a batch that was changed on purpose.
func seal(raw []byte) []byte {
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

var someTime = time.UnixMilli(1_700_000_000_000)

func timed(value string, after time.Duration) record.Record {
	return record.Record{Value: []byte(value), Time: someTime.Add(after)}
}

// TestFromClientRefuses is Kafka's LogValidator as a table: refused whole,
// nothing is written.
func TestFromClientRefuses(t *testing.T) {
	plain := func() []byte { return encode(t, record.BatchOptions{}, timed("a", 0), timed("b", 1)) }
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"control":               {encode(t, record.BatchOptions{Control: true}, timed("a", 0)), record.ErrInvalid},
		"base offset":           {encode(t, record.BatchOptions{BaseOffset: 5}, timed("a", 0)), record.ErrInvalid},
		"two batches":           {append(plain(), plain()...), record.ErrInvalid},
		"bytes behind":          {append(plain(), 0), record.ErrInvalid},
		"cut short":             {plain()[:70], record.ErrInvalid},
		"empty":                 {nil, record.ErrInvalid},
		"wrong checksum":        {func() []byte { raw := plain(); raw[len(raw)-1] ^= 1; return raw }(), record.ErrCorrupt},
		"magic 1":               {func() []byte { raw := plain(); raw[16] = 1; return raw }(), record.ErrUnsupportedMagic},
		"magic 3":               {func() []byte { raw := plain(); raw[16] = 3; return raw }(), record.ErrCorrupt},
		"count below offsets":   {seal(func() []byte { raw := plain(); raw[60] = 1; return raw }()), record.ErrInvalid},
		"no records":            {seal(func() []byte { raw := plain()[:61]; raw[11], raw[26], raw[60] = 49, 0, 0; return raw }()), record.ErrInvalid},
		"gap":                   {seal(func() []byte { raw := plain(); raw[26] = 2; return raw }()), record.ErrInvalid},
		"records than counted":  {seal(func() []byte { raw := plain(); raw[26], raw[60] = 0, 1; return raw }()), record.ErrCorrupt},
		"records out of order":  {seal(func() []byte { raw := plain(); raw[61+3] = 2; return raw }()), record.ErrInvalid},
		"records not decodable": {seal(func() []byte { raw := plain(); raw[61] = 0xff; return raw }()), record.ErrCorrupt},
		"unknown codec":         {seal(func() []byte { raw := plain(); raw[22] |= 7; return raw }()), record.ErrCorrupt},
		"too large":             {encode(t, record.BatchOptions{}, record.Record{Value: make([]byte, 5000)}), record.ErrTooLarge},
		"inflates too much":     {encode(t, record.BatchOptions{Codec: record.Gzip}, record.Record{Value: make([]byte, 50000)}), record.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			l, _, _ := inMem(t, log.Options{SegmentBytes: 4 << 10, MaxBatchBytes: 20 << 10})
			before := l.Stats()
			_, err := l.AppendBatch(c.raw, log.FromClient)
			require.ErrorIs(t, err, c.want)
			assert.Equal(t, before, l.Stats())
		})
	}
}

// TestFromClientTimes: the log puts right what the producer got wrong.
func TestFromClientTimes(t *testing.T) {
	now := someTime.Add(time.Hour)
	for _, c := range []struct {
		name    string
		raw     []byte
		log     record.TimestampType
		stamp   time.Time
		largest time.Time
	}{
		{"right", encode(t, record.BatchOptions{}, timed("a", time.Second), timed("b", 0)), record.CreateTime, time.Time{}, someTime.Add(time.Second)},
		{"largest is wrong", seal(func() []byte {
			raw := encode(t, record.BatchOptions{}, timed("a", time.Second), timed("b", 0))
			binary.BigEndian.PutUint64(raw[35:], 1)
			return raw
		}()), record.CreateTime, time.Time{}, someTime.Add(time.Second)},
		{"type is wrong", encode(t, record.BatchOptions{TimestampType: record.LogAppendTime, AppendTime: someTime.Add(5 * time.Hour)}, timed("a", time.Second), timed("b", 0)), record.CreateTime, time.Time{}, someTime.Add(time.Second)},
		{"the log's own", encode(t, record.BatchOptions{}, timed("a", time.Second), timed("b", 0)), record.LogAppendTime, now, now},
		{"compressed", encode(t, record.BatchOptions{Codec: record.LZ4}, timed("a", time.Second), timed("b", 0)), record.CreateTime, time.Time{}, someTime.Add(time.Second)},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, _, _ := inMem(t, log.Options{TimestampType: c.log, Env: log.Env{Now: func() time.Time { return now }}})
			fill(t, l, 3)
			at, err := l.AppendBatch(c.raw, log.FromClient)
			require.NoError(t, err)
			assert.Equal(t, int64(3), at.First)
			assert.Equal(t, int64(4), at.Last)
			assert.Equal(t, c.stamp, at.Time)
			v, err := l.Borrow(3, 1<<20)
			require.NoError(t, err)
			defer v.Release()
			b, err := record.Parse(v.Bytes())
			require.NoError(t, err)
			assert.Equal(t, c.log, b.TimestampType())
			assert.Equal(t, c.largest.UnixMilli(), b.MaxTimestamp)
			r, err := l.Read(3)
			require.NoError(t, err)
			assert.Equal(t, c.largest.UTC(), r.Time)
			assert.Equal(t, "a", string(r.Value))
		})
	}
}

// TestFromLeader: a replica keeps what the leader gave, byte by byte, gaps and
// markers included.
func TestFromLeader(t *testing.T) {
	l, _, _ := inMem(t, log.Options{})
	first := encode(t, record.BatchOptions{BaseOffset: 10, LeaderEpoch: 7}, timed("a", 0), timed("b", 0))
	marker := encode(t, record.BatchOptions{BaseOffset: 20, Control: true, Transactional: true, Producer: &record.Producer{ID: 1, Sequence: -1}},
		record.Record{Key: record.ControlKey(record.ControlCommit), Value: record.EndTxnValue(0), Time: someTime})
	at, err := l.AppendBatch(first, log.FromLeader)
	require.NoError(t, err)
	assert.Equal(t, log.Appended{First: 10, Last: 11}, at)
	_, err = l.AppendBatch(marker, log.FromLeader)
	require.NoError(t, err)
	assert.Equal(t, int64(21), l.End())
	assert.Equal(t, string(first)+string(marker), borrowAll(t, l))

	for _, base := range []int64{0, 11, 20} {
		_, err := l.AppendBatch(encode(t, record.BatchOptions{BaseOffset: base}, timed("x", 0)), log.FromLeader)
		assert.ErrorIs(t, err, record.ErrInvalid, "%d is below End", base)
	}
	for offset, want := range map[int64]error{5: log.ErrNoRecord, 10: nil, 11: nil, 12: log.ErrNoRecord, 20: log.ErrNoRecord, 21: log.ErrBeyond} {
		_, err := l.Read(offset)
		assert.ErrorIs(t, err, want, "%d", offset)
	}
	next, err := l.Append(rec("c"))
	require.NoError(t, err)
	assert.Equal(t, int64(21), next)
	var got []int64
	for r, err := range l.From(0) {
		require.NoError(t, err)
		got = append(got, r.Offset)
	}
	assert.Equal(t, []int64{10, 11, 21}, got)
}
