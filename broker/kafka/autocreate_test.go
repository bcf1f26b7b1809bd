package kafka

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestAutoCreateSeveral: the topics that one request asks for are made together,
// each whatever becomes of the others, and told of in its order.
func TestAutoCreateSeveral(t *testing.T) {
	s := serve(t, t.TempDir(), "", map[string]string{"num.partitions": "3"})
	told := 0
	defer s.b.OnTopics(func() { told++ })()
	w := dial(t, s.addr)
	resp := ask[*kmsg.MetadataResponse](w, metadataRequest("a", "b.c", "b_c", "no/name", "a", "__consumer_offsets", "d"), 9)
	var got []string
	for _, topic := range resp.Topics {
		got = append(got, *topic.Topic)
		switch *topic.Topic {
		case "no/name":
			require.Equal(t, kerr.InvalidTopicException.Code, topic.ErrorCode)
		case "b_c", "__consumer_offsets":
			require.Equal(t, kerr.UnknownTopicOrPartition.Code, topic.ErrorCode, *topic.Topic)
		default:
			require.Zero(t, topic.ErrorCode, *topic.Topic)
			require.Len(t, topic.Partitions, 3)
		}
	}
	require.Equal(t, []string{"a", "b.c", "b_c", "no/name", "__consumer_offsets", "d"}, got)
	require.Equal(t, 3, told)
	again := metadataRequest("e")
	again.AllowAutoTopicCreation = false
	require.Equal(t, kerr.UnknownTopicOrPartition.Code, ask[*kmsg.MetadataResponse](w, again, 9).Topics[0].ErrorCode)
}
