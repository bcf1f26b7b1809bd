package kafka

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestCreateTopicsWithoutTime: nothing is looked at but whether there is a topic
// that is named once; the answer has each as it was asked for.
func TestCreateTopicsWithoutTime(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	w := dial(t, s.addr)
	for _, c := range []struct {
		timeout, partitions int32
		topics              []string
		want                *kerr.Error
		answers             []string
	}{
		{0, 1, []string{"b", "a", "b"}, kerr.RequestTimedOut, []string{"b", "a", "b"}},
		{-1, 1, []string{"b", "..", "b"}, kerr.RequestTimedOut, []string{"b", "..", "b"}},
		{0, 10001, []string{"b", "a"}, kerr.RequestTimedOut, []string{"b", "a"}},
		{0, 1, []string{"b", "b"}, kerr.InvalidRequest, []string{"b"}},
	} {
		req := kmsg.NewPtrCreateTopicsRequest()
		req.TimeoutMillis = c.timeout
		for _, name := range c.topics {
			one := kmsg.NewCreateTopicsRequestTopic()
			one.Topic, one.NumPartitions, one.ReplicationFactor = name, c.partitions, 1
			req.Topics = append(req.Topics, one)
		}
		var told []string
		for _, a := range ask[*kmsg.CreateTopicsResponse](w, req, 7).Topics {
			assert.Equal(t, c.want.Code, a.ErrorCode, "%v: %s", c.topics, a.Topic)
			told = append(told, a.Topic)
		}
		assert.Equal(t, c.answers, told)
	}
	assert.Empty(t, s.b.Topics())
}

// TestNothingIsDoneWithoutTime: the same of partitions and of deletions.
func TestNothingIsDoneWithoutTime(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	topic(t, s, "a", 1)
	topic(t, s, "b", 1)
	w := dial(t, s.addr)
	for _, c := range []struct {
		topics  []string
		want    *kerr.Error
		answers []string
	}{
		{[]string{"a", "b", "a"}, kerr.RequestTimedOut, []string{"a", "b", "a"}},
		{[]string{"b", "nothing"}, kerr.RequestTimedOut, []string{"b", "nothing"}},
		{[]string{"a", "a"}, kerr.InvalidRequest, []string{"a"}},
	} {
		extend, remove := kmsg.NewPtrCreatePartitionsRequest(), kmsg.NewPtrDeleteTopicsRequest()
		extend.TimeoutMillis, remove.TimeoutMillis = 0, 0
		remove.TopicNames = c.topics
		for _, name := range c.topics {
			one := kmsg.NewCreatePartitionsRequestTopic()
			one.Topic, one.Count = name, 3
			extend.Topics = append(extend.Topics, one)
		}
		var extended, removed []string
		for _, a := range ask[*kmsg.CreatePartitionsResponse](w, extend, 3).Topics {
			assert.Equal(t, c.want.Code, a.ErrorCode, "%v: %s", c.topics, a.Topic)
			extended = append(extended, a.Topic)
		}
		for _, a := range ask[*kmsg.DeleteTopicsResponse](w, remove, 4).Topics {
			assert.Equal(t, c.want.Code, a.ErrorCode, "%v: %s", c.topics, *a.Topic)
			removed = append(removed, *a.Topic)
		}
		assert.Equal(t, c.answers, extended)
		assert.Equal(t, c.answers, removed)
	}
	for _, name := range []string{"a", "b"} {
		at, err := s.b.Topic(name)
		require.NoError(t, err)
		assert.Len(t, at.Partitions(), 1)
	}
}

// TestCursorOfDescribeTopicPartitions: it has to be at a topic that is asked for,
// and the next one is at the topic behind, whether there is one of that name.
func TestCursorOfDescribeTopicPartitions(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	topic(t, s, "d", 2)
	topic(t, s, "f", 2)
	w := dial(t, s.addr)
	const (
		refused = "INVALID_REQUEST"
		unknown = "UNKNOWN_TOPIC_OR_PARTITION"
	)
	type told struct {
		topic, code string
		partitions  int
	}
	type cursor struct {
		topic     string
		partition int32
	}
	for _, c := range []struct {
		at     *cursor
		limit  int32
		topics []string
		want   []told
		next   *cursor
	}{
		{&cursor{"c", 0}, 9, []string{"d", "f", "b"}, []told{{"d", refused, 0}, {"f", refused, 0}, {"b", refused, 0}}, nil},
		{&cursor{"e", 0}, 9, []string{"f", "d", "f"}, []told{{"f", refused, 0}, {"d", refused, 0}, {"f", refused, 0}}, nil},
		{&cursor{"d", -1}, 9, []string{"d", "__consumer_offsets"}, []told{{"d", refused, 0}, {"__consumer_offsets", refused, 0}}, nil},
		{&cursor{"b", 0}, 9, []string{"d", "b"}, []told{{"b", unknown, 0}, {"d", "", 2}}, nil},
		{&cursor{"d", 0}, 2, []string{"d", "e", "f"}, []told{{"d", "", 2}}, &cursor{"e", 0}},
		{&cursor{"d", 5}, 2, []string{"d", "e"}, []told{{"d", "", 0}, {"e", unknown, 0}}, nil},
		{nil, 2, []string{"d", "e", "g"}, []told{{"d", "", 2}}, &cursor{"e", 0}},
		{nil, 3, []string{"d", "f"}, []told{{"d", "", 2}, {"f", "", 1}}, &cursor{"f", 1}},
		{&cursor{"c", 5}, 1, nil, []told{{"d", "", 1}}, &cursor{"d", 1}},
		{&cursor{"d", -1}, 1, nil, nil, nil},
		{&cursor{"z", 0}, 1, nil, nil, nil},
	} {
		req := kmsg.NewPtrDescribeTopicPartitionsRequest()
		req.ResponsePartitionLimit = c.limit
		for _, name := range c.topics {
			one := kmsg.NewDescribeTopicPartitionsRequestTopic()
			one.Topic = name
			req.Topics = append(req.Topics, one)
		}
		if c.at != nil {
			at := kmsg.NewDescribeTopicPartitionsRequestCursor()
			at.Topic, at.Partition = c.at.topic, c.at.partition
			req.Cursor = &at
		}
		resp := ask[*kmsg.DescribeTopicPartitionsResponse](w, req, 0)
		var got []told
		for _, a := range resp.Topics {
			require.False(t, a.IsInternal)
			one := told{topic: *a.Topic, partitions: len(a.Partitions)}
			if err, ok := kerr.ErrorForCode(a.ErrorCode).(*kerr.Error); ok {
				one.code = err.Message
			}
			got = append(got, one)
		}
		assert.Equal(t, c.want, got, "%v from %v", c.topics, c.at)
		var next *cursor
		if n := resp.NextCursor; n != nil {
			next = &cursor{n.Topic, n.Partition}
		}
		assert.Equal(t, c.next, next, "%v from %v", c.topics, c.at)
	}
}
