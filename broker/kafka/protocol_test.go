package kafka

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/record"
)

func topic(t *testing.T, s *served, name string, partitions int32, configs ...string) {
	t.Helper()
	spec := broker.TopicSpec{Name: name, Partitions: partitions, Configs: make(map[string]string)}
	for i := 0; i < len(configs); i += 2 {
		spec.Configs[configs[i]] = configs[i+1]
	}
	_, err := s.b.CreateTopic(t.Context(), spec)
	require.NoError(t, err)
}

// TestAdvertised: produce is advertised from version 0, which old clients look
// for before they compress, and nothing is that is not served.
func TestAdvertised(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	w := dial(t, s.addr)
	resp := ask[*kmsg.ApiVersionsResponse](w, kmsg.NewPtrApiVersionsRequest(), 0)
	require.Len(t, resp.ApiKeys, len(apis()))
	for _, k := range resp.ApiKeys {
		if k.ApiKey == produce {
			assert.Zero(t, k.MinVersion)
		}
		req := kmsg.RequestForKey(k.ApiKey)
		require.LessOrEqual(t, k.MaxVersion, req.MaxVersion())
		for v := k.MinVersion; v <= k.MaxVersion; v++ {
			if k.ApiKey == produce && v < 3 {
				continue
			}
			req := kmsg.RequestForKey(k.ApiKey)
			if p, ok := req.(*kmsg.ProduceRequest); ok {
				p.Acks = 1
			}
			w.send(req, v)
			resp := w.receive(req, w.n)
			assert.Equal(t, v, resp.GetVersion(), "%s v%d", kmsg.NameForKey(k.ApiKey), v)
		}
	}
}

// TestOrder: answers come in the order of requests, though the first waits.
func TestOrder(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	topic(t, s, "t", 1)
	w := dial(t, s.addr)
	slow, quick := fetchRequest("t", 0, 300), kmsg.NewPtrApiVersionsRequest()
	began := time.Now()
	w.send(slow, 12)
	w.send(quick, 0)
	w.receive(slow, 1)
	assert.GreaterOrEqual(t, time.Since(began), 300*time.Millisecond)
	w.receive(quick, 2)
}

// TestAcksNone: there is no answer to acks=0, and an error ends the connection.
func TestAcksNone(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	topic(t, s, "t", 1)
	w := dial(t, s.addr)
	req := produceRequest("t", 0, batchOf(t, record.None, "x"))
	req.Acks = 0
	w.send(req, 9)
	versions := kmsg.NewPtrApiVersionsRequest()
	w.send(versions, 0)
	w.receive(versions, 2)
	req = produceRequest("nowhere", 0, batchOf(t, record.None, "x"))
	req.Acks = 0
	w.send(req, 9)
	w.closed("nobody can be told of the error")
	p, err := s.b.Partition("t", 0)
	require.NoError(t, err)
	l, err := p.Log()
	require.NoError(t, err)
	assert.EqualValues(t, 1, l.End())
}

// TestDuplicates: a batch sent again is answered with where it went first, the
// last one of a producer across a restart, too.
func TestDuplicates(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	topic(t, s, "t", 1)
	id, err := s.b.NewProducerID()
	require.NoError(t, err)
	sent := func(sequence int32, values ...string) []byte {
		raw := batchOf(t, record.None, values...)
		record.SetProducer(raw, record.Producer{ID: id, Sequence: sequence})
		return raw
	}
	send := func(sequence int32, values ...string) kmsg.ProduceResponseTopicPartition {
		resp := ask[*kmsg.ProduceResponse](dial(t, s.addr), produceRequest("t", 0, sent(sequence, values...)), 9)
		return resp.Topics[0].Partitions[0]
	}
	assert.EqualValues(t, 0, send(0, "a", "b").BaseOffset)
	assert.EqualValues(t, 2, send(2, "c").BaseOffset)
	again := send(0, "a", "b")
	assert.Zero(t, again.ErrorCode)
	assert.EqualValues(t, 0, again.BaseOffset)
	assert.Positive(t, again.LogAppendTime, "of a duplicate the largest time")
	assert.Equal(t, kerr.OutOfOrderSequenceNumber.Code, send(7, "x").ErrorCode)
	in, err := s.b.Topic("t")
	require.NoError(t, err)
	stored := int64(len(batchOf(t, record.None, "a", "b")) + len(batchOf(t, record.None, "c")))
	assert.Equal(t, broker.Traffic{MessagesIn: 3, BytesIn: stored, ProduceRequests: 4, FailedProduceRequests: 1}, in.Traffic(), "a duplicate brings nothing")

	s.stop()
	s = serve(t, s.dir, "", nil)
	assert.EqualValues(t, 2, send(2, "c").BaseOffset)
	assert.EqualValues(t, 3, send(3, "d").BaseOffset)
}

// TestProduceRefusals: each has Kafka's code, and nothing of it is appended.
func TestProduceRefusals(t *testing.T) {
	s := serve(t, t.TempDir(), "", map[string]string{"message.max.bytes": "5000"})
	topic(t, s, "t", 1)
	topic(t, s, "compacted", 1, "cleanup.policy", "compact")
	topic(t, s, "young", 1, "message.timestamp.before.max.ms", "1000")
	topic(t, s, "flat", 1, "max.decompressed.message.bytes", "2000")
	good := batchOf(t, record.None, "x")
	flipped := append([]byte(nil), good...)
	flipped[len(flipped)-1] ^= 1
	late := func() []byte {
		var b record.Builder
		require.NoError(t, b.Add(&record.Record{Time: time.Now(), Value: []byte("in time")}))
		require.NoError(t, b.Add(&record.Record{Time: time.Now().Add(-time.Hour), Value: []byte("late")}))
		raw, err := b.Build()
		require.NoError(t, err)
		return raw
	}()
	for what, c := range map[string]struct {
		topic string
		raw   []byte
		want  *kerr.Error
		bad   []int32
	}{
		"nothing":           {"t", []byte{}, kerr.InvalidRecord, nil},
		"null":              {"t", nil, kerr.InvalidRecord, nil},
		"cut":               {"t", good[:len(good)-1], kerr.InvalidRecord, nil},
		"a flipped bit":     {"t", flipped, kerr.CorruptMessage, nil},
		"two":               {"t", append(append([]byte(nil), good...), good...), kerr.InvalidRecord, nil},
		"too large":         {"t", batchOf(t, record.None, string(make([]byte, 5000))), kerr.MessageTooLarge, nil},
		"no key":            {"compacted", batchOf(t, record.None, "x", "y"), kerr.InvalidRecord, []int32{0, 1}},
		"a time too early":  {"young", late, kerr.InvalidTimestamp, []int32{1}},
		"inflates too much": {"flat", batchOf(t, record.Zstd, string(make([]byte, 3000))), kerr.MessageTooLarge, nil},
		"no such topic":     {"missing", good, kerr.UnknownTopicOrPartition, nil},
		"no such partition": {"t", nil, kerr.UnknownTopicOrPartition, nil},
	} {
		t.Run(what, func(t *testing.T) {
			req := produceRequest(c.topic, 0, append([]byte(nil), c.raw...))
			if c.raw == nil {
				req.Topics[0].Partitions[0].Records = nil
			}
			if what == "no such partition" {
				req.Topics[0].Partitions[0].Partition = 7
			}
			got := ask[*kmsg.ProduceResponse](dial(t, s.addr), req, 9).Topics[0].Partitions[0]
			assert.Equal(t, c.want.Code, got.ErrorCode)
			assert.EqualValues(t, -1, got.BaseOffset)
			var bad []int32
			for _, r := range got.ErrorRecords {
				bad = append(bad, r.RelativeOffset)
			}
			assert.Equal(t, c.bad, bad)
			require.NotNil(t, got.ErrorMessage)
		})
	}
	for _, topic := range s.b.Topics() {
		l, err := topic.Partitions()[0].Log()
		require.NoError(t, err)
		assert.Zero(t, l.End(), topic.Name())
	}
}

// TestConfigured: what is altered counts at once.
func TestConfigured(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	topic(t, s, "t", 1)
	w := dial(t, s.addr)
	send := func() kmsg.ProduceResponseTopicPartition {
		return ask[*kmsg.ProduceResponse](w, produceRequest("t", 0, batchOf(t, record.None, string(make([]byte, 3000)))), 9).Topics[0].Partitions[0]
	}
	alter := func(name, value string) {
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		r := kmsg.NewIncrementalAlterConfigsRequestResource()
		r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, "t"
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value = name, &value
		r.Configs = append(r.Configs, c)
		req.Resources = append(req.Resources, r)
		require.Zero(t, ask[*kmsg.IncrementalAlterConfigsResponse](w, req, 1).Resources[0].ErrorCode)
	}
	assert.EqualValues(t, -1, send().LogAppendTime)
	alter("message.timestamp.type", "LogAppendTime")
	assert.Positive(t, send().LogAppendTime)
	alter("max.message.bytes", "2000")
	assert.Equal(t, kerr.MessageTooLarge.Code, send().ErrorCode)
	alter("max.message.bytes", "20000")
	alter("compression.type", "zstd")
	assert.Zero(t, send().ErrorCode)
	p, err := s.b.Partition("t", 0)
	require.NoError(t, err)
	l, err := p.Log()
	require.NoError(t, err)
	v, err := l.Borrow(2, 1)
	require.NoError(t, err)
	defer v.Release()
	for b := range v.Batches() {
		assert.Equal(t, record.Zstd, b.Codec())
	}
}

// TestSessions: a session tells what is new, and only that.
func TestSessions(t *testing.T) {
	s := serve(t, t.TempDir(), "", map[string]string{"max.incremental.fetch.session.cache.slots": "1"})
	topic(t, s, "a", 1)
	topic(t, s, "b", 1)
	w := dial(t, s.addr)
	full := fetchRequest("a", 0, 0)
	full.SessionEpoch = 0
	full.Topics = append(full.Topics, fetchRequest("b", 0, 0).Topics[0])
	first := ask[*kmsg.FetchResponse](w, full, 12)
	require.NotZero(t, first.SessionID)
	require.Len(t, first.Topics, 2)

	other := ask[*kmsg.FetchResponse](w, full, 12)
	assert.Zero(t, other.SessionID, "there is no room for another session")
	require.Len(t, other.Topics, 2)

	next := kmsg.NewPtrFetchRequest()
	next.MaxBytes, next.SessionID, next.SessionEpoch = 1<<20, first.SessionID, 1
	assert.Empty(t, ask[*kmsg.FetchResponse](w, next, 12).Topics)

	_, err := s.b.Produce(t.Context(), "b", 0, record.Record{Value: []byte("x")})
	require.NoError(t, err)
	next.SessionEpoch = 2
	got := ask[*kmsg.FetchResponse](w, next, 12)
	require.Len(t, got.Topics, 1)
	assert.Equal(t, "b", got.Topics[0].Topic)
	assert.NotEmpty(t, got.Topics[0].Partitions[0].RecordBatches)

	assert.Equal(t, kerr.InvalidFetchSessionEpoch.Code, ask[*kmsg.FetchResponse](w, next, 12).ErrorCode)
	next.SessionEpoch = 3
	next.Topics = []kmsg.FetchRequestTopic{fetchRequest("b", 1, 0).Topics[0]}
	assert.Empty(t, ask[*kmsg.FetchResponse](w, next, 12).Topics, "it has been told of the watermark")
	next.SessionEpoch, next.Topics = 4, nil
	for _, name := range []string{"a", "b"} {
		f := kmsg.NewFetchRequestForgottenTopic()
		f.Topic, f.Partitions = name, []int32{0}
		next.ForgottenTopics = append(next.ForgottenTopics, f)
	}
	next.Topics = []kmsg.FetchRequestTopic{fetchRequest("b", 1, 0).Topics[0]}
	got = ask[*kmsg.FetchResponse](w, next, 12)
	assert.Zero(t, got.SessionID, "nothing is left of it")
	require.Len(t, got.Topics, 1, "what was asked for and forgotten at once is answered")
	assert.Equal(t, "b", got.Topics[0].Topic)
	next.SessionEpoch = 5
	assert.Equal(t, kerr.FetchSessionIDNotFound.Code, ask[*kmsg.FetchResponse](w, next, 12).ErrorCode)
}

// TestWholeBatches: several partitions' batches come out as they are in the log,
// by every version, which is where the answer is put together from pieces.
func TestWholeBatches(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	topic(t, s, "t", 3)
	for p := range int32(3) {
		for range 3 {
			_, err := s.b.Produce(t.Context(), "t", p, record.Record{Value: []byte{byte(p)}}, record.Record{Key: placeholder})
			require.NoError(t, err)
		}
	}
	at, err := s.b.Topic("t")
	require.NoError(t, err)
	for version := int16(4); version <= 18; version++ {
		req := fetchRequest("t", 0, 0)
		req.Topics[0].TopicID = at.ID()
		for p := int32(1); p < 3; p++ {
			more := fetchRequest("t", int64(2*p), 0).Topics[0].Partitions[0]
			more.Partition = p
			req.Topics[0].Partitions = append(req.Topics[0].Partitions, more)
		}
		resp := ask[*kmsg.FetchResponse](dial(t, s.addr), req, version)
		require.Len(t, resp.Topics[0].Partitions, 3)
		for p, got := range resp.Topics[0].Partitions {
			l, err := at.Partitions()[p].Log()
			require.NoError(t, err)
			v, err := l.Borrow(int64(2*p), 1<<20)
			require.NoError(t, err)
			assert.Equal(t, v.Bytes(), got.RecordBatches, "version %d", version)
			v.Release()
			assert.EqualValues(t, 6, got.HighWatermark)
		}
	}
}
