package kafka

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/record"
)

// What Kafka 4.4 answers where more than one thing is wrong with a request, as
// conversations with both brokers (interop/broker/differential) have found.

func encoded(t *testing.T, codec record.Codec) []byte { return batchOf(t, codec, "v") }

// produceTo asks for one batch in each partition of a topic from 0 on.
func produceTo(topic string, acks int16, batches ...[]byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks = acks
	one := kmsg.NewProduceRequestTopic()
	one.Topic = topic
	for i, raw := range batches {
		p := kmsg.NewProduceRequestTopicPartition()
		p.Partition, p.Records = int32(i), raw
		one.Partitions = append(one.Partitions, p)
	}
	req.Topics = append(req.Topics, one)
	return req
}

// TestUnreadableBatch: a batch that cannot be told from what is behind it refuses
// the whole request, wherever it goes; one that is merely wrong is its own affair.
func TestUnreadableBatch(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	topic(t, s, "t", 2)
	w := dial(t, s.addr)
	codes := func(req *kmsg.ProduceRequest, version int16) (all []int16) {
		for _, p := range ask[*kmsg.ProduceResponse](w, req, version).Topics[0].Partitions {
			all = append(all, p.ErrorCode)
		}
		return all
	}
	const magic, length = 16, 11
	unreadable := encoded(t, record.None)
	unreadable[magic] = 3
	corrupt := kerr.CorruptMessage.Code
	require.Equal(t, []int16{corrupt, corrupt}, codes(produceTo("t", 1, encoded(t, record.None), unreadable), 9))
	require.Equal(t, []int16{corrupt}, codes(produceTo("nothing", 1, unreadable), 9))
	unreadable = encoded(t, record.None)
	unreadable[length-1], unreadable[length] = 0, 13
	require.Equal(t, []int16{corrupt, corrupt}, codes(produceTo("t", 1, encoded(t, record.None), unreadable), 9))
	old := encoded(t, record.None)
	old[magic] = 1
	require.Equal(t, []int16{0, kerr.InvalidRecord.Code}, codes(produceTo("t", 1, encoded(t, record.None), old), 9))
	one, err := s.b.Partition("t", 0)
	require.NoError(t, err)
	l, err := one.Log()
	require.NoError(t, err)
	require.EqualValues(t, 1, l.End(), "only the last request was taken")

	require.Equal(t, []int16{kerr.UnsupportedCompressionType.Code}, codes(produceTo("t", 2, encoded(t, record.Zstd)), 6), "before the acks are looked at")
	miscounted := encoded(t, record.Zstd)
	const count = 60
	miscounted[count]++
	require.Equal(t, []int16{kerr.UnsupportedCompressionType.Code}, codes(produceTo("t", 1, miscounted), 6), "before its records are counted")
	require.Equal(t, []int16{kerr.InvalidRecord.Code}, codes(produceTo("t", 2, []byte{}), 9))
	require.Equal(t, []int16{kerr.InvalidRequiredAcks.Code}, codes(produceTo("t", 2, encoded(t, record.Zstd)), 9))
}

// fetchOf asks for partitions of topics, in this order.
func fetchOf(isolation int8, of ...kmsg.FetchRequestTopic) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MaxBytes, req.IsolationLevel, req.SessionEpoch, req.Topics = 1<<20, isolation, -1, of
	return req
}

func fetchPartOf(name string, id broker.TopicID, partition int32, offset int64) kmsg.FetchRequestTopic {
	one := kmsg.NewFetchRequestTopic()
	one.Topic, one.TopicID = name, id
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes = partition, offset, 1<<20
	one.Partitions = append(one.Partitions, p)
	return one
}

// told are the partitions of an answer with their errors, in its order.
func told(resp *kmsg.FetchResponse) (all [][2]int16) {
	for _, topic := range resp.Topics {
		for _, p := range topic.Partitions {
			all = append(all, [2]int16{int16(p.Partition), p.ErrorCode})
		}
	}
	return all
}

// TestFetchOfWhatIsNotThere: it is told of last, topics of unknown ids before
// partitions, and a session keeps to that order.
func TestFetchOfWhatIsNotThere(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	topic(t, s, "t", 1)
	w := dial(t, s.addr)
	id, nobody := topicID(t, s, "t"), broker.TopicID{1}
	unknownID, unknown, beyond := kerr.UnknownTopicID.Code, kerr.UnknownTopicOrPartition.Code, kerr.OffsetOutOfRange.Code
	parts := []kmsg.FetchRequestTopic{fetchPartOf("", id, 7, 0), fetchPartOf("", nobody, 2, 0), fetchPartOf("", id, 0, 9)}
	want := [][2]int16{{0, beyond}, {2, unknownID}, {7, unknown}}
	resp := ask[*kmsg.FetchResponse](w, fetchOf(1, parts...), 18)
	require.Equal(t, want, told(resp))
	assert.Nil(t, resp.Topics[0].Partitions[0].AbortedTransactions, "of an error there is no list")
	assert.NotNil(t, resp.Topics[1].Partitions[0].AbortedTransactions)

	req := fetchOf(0, parts...)
	req.SessionEpoch = 0
	first := ask[*kmsg.FetchResponse](w, req, 18)
	require.Equal(t, want, told(first))
	next := fetchOf(0)
	next.SessionID, next.SessionEpoch = first.SessionID, 1
	require.Equal(t, want, told(ask[*kmsg.FetchResponse](w, next, 18)))

	require.NoError(t, s.b.DeleteTopic("t"))
	topic(t, s, "t", 1)
	next.SessionEpoch = 2
	require.Equal(t, [][2]int16{{0, kerr.InconsistentTopicID.Code}, {2, unknownID}, {7, unknown}}, told(ask[*kmsg.FetchResponse](w, next, 18)),
		"a partition that is not there is not of another topic either")
}

// TestWaitBesideWhatIsNotThere: a partition that is not there ends no wait for
// another one; a limit of no bytes does.
func TestWaitBesideWhatIsNotThere(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	topic(t, s, "t", 1)
	w := dial(t, s.addr)
	took := func(maxBytes int32, of ...kmsg.FetchRequestTopic) time.Duration {
		req := fetchOf(0, of...)
		req.MinBytes, req.MaxWaitMillis, req.MaxBytes = 1, 300, maxBytes
		began := time.Now()
		require.Zero(t, ask[*kmsg.FetchResponse](w, req, 12).ErrorCode)
		return time.Since(began)
	}
	there, nowhere := fetchPartOf("t", broker.TopicID{}, 0, 0), fetchPartOf("t", broker.TopicID{}, 7, 0)
	require.GreaterOrEqual(t, took(1<<20, nowhere, there), 300*time.Millisecond)
	require.Less(t, took(1<<20, nowhere), 300*time.Millisecond)
	require.Less(t, took(0, there), 300*time.Millisecond)
}

// TestFetchWithoutIsolation: a level that is none is found out when there is
// something to be read.
func TestFetchWithoutIsolation(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	topic(t, s, "t", 1)
	w := dial(t, s.addr)
	resp := ask[*kmsg.FetchResponse](w, fetchOf(2, fetchPartOf("", topicID(t, s, "t"), 0, 0)), 18)
	require.Equal(t, kerr.UnknownServerError.Code, resp.ErrorCode)
	require.Empty(t, resp.Topics)
	resp = ask[*kmsg.FetchResponse](w, fetchOf(2, fetchPartOf("", broker.TopicID{1}, 0, 0)), 18)
	require.Zero(t, resp.ErrorCode)
	require.Equal(t, [][2]int16{{0, kerr.UnknownTopicID.Code}}, told(resp))
	resp = ask[*kmsg.FetchResponse](w, fetchOf(2, fetchPartOf("t", broker.TopicID{}, 0, 0)), 6)
	require.Equal(t, [][2]int16{{0, kerr.UnknownServerError.Code}}, told(resp))
	resp = ask[*kmsg.FetchResponse](w, fetchOf(2, fetchPartOf("nothing", broker.TopicID{}, 0, 0)), 6)
	require.Equal(t, [][2]int16{{0, kerr.UnknownTopicOrPartition.Code}}, told(resp))
}

// TestLargestTimeOfWhatIsThere: a record that was deleted has it no more.
func TestLargestTimeOfWhatIsThere(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	topic(t, s, "t", 1)
	w := dial(t, s.addr)
	for _, ms := range []int64{3000, 1000, 2000} {
		_, err := s.b.Produce(t.Context(), "t", 0, record.Record{Time: time.UnixMilli(ms), Value: []byte("v")})
		require.NoError(t, err)
	}
	largest := func() [2]int64 {
		req := kmsg.NewPtrListOffsetsRequest()
		one, p := kmsg.NewListOffsetsRequestTopic(), kmsg.NewListOffsetsRequestTopicPartition()
		one.Topic, p.Timestamp = "t", maxTimestamp
		one.Partitions = append(one.Partitions, p)
		req.Topics = append(req.Topics, one)
		got := ask[*kmsg.ListOffsetsResponse](w, req, 8).Topics[0].Partitions[0]
		return [2]int64{got.Offset, got.Timestamp}
	}
	remove := func(before int64) {
		req := kmsg.NewPtrDeleteRecordsRequest()
		one, p := kmsg.NewDeleteRecordsRequestTopic(), kmsg.NewDeleteRecordsRequestTopicPartition()
		one.Topic, p.Offset = "t", before
		one.Partitions = append(one.Partitions, p)
		req.Topics = append(req.Topics, one)
		require.Zero(t, ask[*kmsg.DeleteRecordsResponse](w, req, 2).Topics[0].Partitions[0].ErrorCode)
	}
	require.Equal(t, [2]int64{0, 3000}, largest())
	remove(1)
	require.Equal(t, [2]int64{2, 2000}, largest())
	remove(3)
	require.Equal(t, [2]int64{-1, -1}, largest())
}

func topicID(t *testing.T, s *served, name string) broker.TopicID {
	t.Helper()
	at, err := s.b.Topic(name)
	require.NoError(t, err)
	return at.ID()
}

// TestWhatIsWrongFirst: the error that counts where a request has several.
func TestWhatIsWrongFirst(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	topic(t, s, "there", 1)
	w := dial(t, s.addr)
	create := func(name string, partitions int32, replicas int16, config ...string) int16 {
		req := kmsg.NewPtrCreateTopicsRequest()
		req.TimeoutMillis = 1000
		one := kmsg.NewCreateTopicsRequestTopic()
		one.Topic, one.NumPartitions, one.ReplicationFactor = name, partitions, replicas
		for i := 0; i < len(config); i += 2 {
			c := kmsg.NewCreateTopicsRequestTopicConfig()
			c.Name, c.Value = config[i], &config[i+1]
			one.Configs = append(one.Configs, c)
		}
		req.Topics = append(req.Topics, one)
		return ask[*kmsg.CreateTopicsResponse](w, req, 7).Topics[0].ErrorCode
	}
	assert.Equal(t, kerr.TopicAlreadyExists.Code, create("there", 0, 0))
	assert.Equal(t, kerr.InvalidConfig.Code, create("new", 0, 1, "no.such.key", "1"))
	assert.Equal(t, kerr.InvalidPartitions.Code, create("new", -2, 2))
	assert.Equal(t, kerr.InvalidReplicationFactor.Code, create("new", -2, 0))
	assert.Equal(t, kerr.InvalidConfig.Code, create("new", 1, 1, "leader.replication.throttled.replicas", "1:2:3"))
	assert.Zero(t, create("throttled", 1, 1, "leader.replication.throttled.replicas", "0:1, 1:1", "retention.bytes", "-3"))

	alter := func(topic, key, value string, op kmsg.IncrementalAlterConfigOp) int16 {
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		one := kmsg.NewIncrementalAlterConfigsRequestResource()
		one.ResourceType, one.ResourceName = kmsg.ConfigResourceTypeTopic, topic
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value, c.Op = key, &value, op
		one.Configs = append(one.Configs, c)
		req.Resources = append(req.Resources, one)
		return ask[*kmsg.IncrementalAlterConfigsResponse](w, req, 1).Resources[0].ErrorCode
	}
	assert.Equal(t, kerr.InvalidConfig.Code, alter("nothing", "segment.ms", "1", kmsg.IncrementalAlterConfigOpSubtract))
	assert.Equal(t, kerr.InvalidConfig.Code, alter("nothing", "segment.ms", "x", kmsg.IncrementalAlterConfigOpSet))
	assert.Equal(t, kerr.UnknownTopicOrPartition.Code, alter("nothing", "segment.ms", "1", kmsg.IncrementalAlterConfigOpSet))

	list := kmsg.NewPtrListOffsetsRequest()
	at := kmsg.NewListOffsetsRequestTopic()
	at.Topic = "nothing"
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Timestamp = -7
	at.Partitions = append(at.Partitions, p)
	list.Topics = append(list.Topics, at)
	assert.Equal(t, kerr.UnsupportedVersion.Code, ask[*kmsg.ListOffsetsResponse](w, list, 7).Topics[0].Partitions[0].ErrorCode)
}

// TestRecordsOfNoPolicy: they may be deleted unless the topic is compacted alone.
func TestRecordsOfNoPolicy(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	w := dial(t, s.addr)
	for policy, want := range map[string]int16{"": 0, "delete": 0, "compact,delete": 0, "compact": kerr.PolicyViolation.Code} {
		name := "t-" + strings.ReplaceAll(policy, ",", "-")
		topic(t, s, name, 1, "cleanup.policy", policy)
		req := kmsg.NewPtrDeleteRecordsRequest()
		one := kmsg.NewDeleteRecordsRequestTopic()
		one.Topic = name
		one.Partitions = append(one.Partitions, kmsg.NewDeleteRecordsRequestTopicPartition())
		req.Topics = append(req.Topics, one)
		assert.Equal(t, want, ask[*kmsg.DeleteRecordsResponse](w, req, 2).Topics[0].Partitions[0].ErrorCode, policy)
	}
}

// TestPolicyTwice: what names a policy twice means it once, and one that is added to
// the default is the topic's own.
func TestPolicyTwice(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	one, err := s.b.CreateTopic(t.Context(), broker.TopicSpec{Name: "t", Partitions: 1, Configs: map[string]string{"cleanup.policy": "delete, compact,delete"}})
	require.NoError(t, err)
	w := dial(t, s.addr)
	policy := func() kmsg.DescribeConfigsResponseResourceConfig {
		req := kmsg.NewPtrDescribeConfigsRequest()
		of := kmsg.NewDescribeConfigsRequestResource()
		of.ResourceType, of.ResourceName, of.ConfigNames = kmsg.ConfigResourceTypeTopic, one.Name(), []string{"cleanup.policy"}
		req.Resources, req.IncludeSynonyms = append(req.Resources, of), true
		return ask[*kmsg.DescribeConfigsResponse](w, req, 4).Resources[0].Configs[0]
	}
	got := policy()
	require.Equal(t, "delete,compact", *got.Value)
	require.Equal(t, "delete,compact", *got.ConfigSynonyms[0].Value)
	require.NoError(t, s.b.AlterTopic("t", []broker.Alteration{{Name: "cleanup.policy", Op: broker.Delete}}, false))
	require.Equal(t, kmsg.ConfigSourceDefaultConfig, policy().Source)
	require.NoError(t, s.b.AlterTopic("t", []broker.Alteration{{Name: "cleanup.policy", Op: broker.Append, Value: "delete"}}, false))
	got = policy()
	require.Equal(t, kmsg.ConfigSourceDynamicTopicConfig, got.Source)
	require.Equal(t, "delete", *got.Value)
}

// TestOperationsOfNothing: what may be done with what is not known is not told.
func TestOperationsOfNothing(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	w := dial(t, s.addr)
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKey = "nothing"
	require.Zero(t, ask[*kmsg.FindCoordinatorResponse](w, find, 0).ErrorCode)
	describe := kmsg.NewPtrDescribeGroupsRequest()
	describe.Groups, describe.IncludeAuthorizedOperations = []string{"nothing"}, true
	assert.EqualValues(t, math.MinInt32, ask[*kmsg.DescribeGroupsResponse](w, describe, 6).Groups[0].AuthorizedOperations)
	assert.EqualValues(t, groupOperations, ask[*kmsg.DescribeGroupsResponse](w, describe, 5).Groups[0].AuthorizedOperations)
	metadata := kmsg.NewPtrMetadataRequest()
	one := kmsg.NewMetadataRequestTopic()
	one.TopicID = broker.TopicID{1}
	metadata.Topics, metadata.IncludeTopicAuthorizedOperations = append(metadata.Topics, one), true
	assert.EqualValues(t, math.MinInt32, ask[*kmsg.MetadataResponse](w, metadata, 12).Topics[0].AuthorizedOperations)
	name := "nothing"
	metadata.Topics[0] = kmsg.NewMetadataRequestTopic()
	metadata.Topics[0].Topic = &name
	assert.EqualValues(t, topicOperations, ask[*kmsg.MetadataResponse](w, metadata, 12).Topics[0].AuthorizedOperations)
}
