package kafka

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
)

// alterTopics sets settings of topics, others of theirs stay.
func alterTopics(t *testing.T, topics map[string]map[string]string) {
	t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	for topic, settings := range topics {
		r := kmsg.NewIncrementalAlterConfigsRequestResource()
		r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, topic
		for name, value := range settings {
			c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
			c.Name, c.Op, c.Value = name, kmsg.IncrementalAlterConfigOpSet, kmsg.StringPtr(value)
			r.Configs = append(r.Configs, c)
		}
		req.Resources = append(req.Resources, r)
	}
	c := client(t)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	resp, err := req.RequestWith(ctx, c)
	require.NoError(t, err)
	for _, r := range resp.Resources {
		require.NoError(t, kerr.ErrorForCode(r.ErrorCode), r.ResourceName)
	}
}

// ends are the log end offsets of topics, or the last stable ones.
func ends(t *testing.T, topics []string, stable bool) map[string]int64 {
	t.Helper()
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	if stable {
		req.IsolationLevel = 1
	}
	for _, topic := range topics {
		rt := kmsg.NewListOffsetsRequestTopic()
		rt.Topic = topic
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Timestamp = -1 // the end
		rt.Partitions = append(rt.Partitions, rp)
		req.Topics = append(req.Topics, rt)
	}
	c := client(t)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	all := map[string]int64{}
	for _, shard := range c.RequestSharded(ctx, req) {
		require.NoError(t, shard.Err)
		for _, rt := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
			require.NoError(t, kerr.ErrorForCode(rt.Partitions[0].ErrorCode), rt.Topic)
			all[rt.Topic] = rt.Partitions[0].Offset
		}
	}
	require.Len(t, all, len(topics))
	return all
}

// awaitMarkers waits until transactions have been ended in the logs, not only
// at their coordinator: until the last stable offset is the one given, or the
// end where none is.
func awaitMarkers(t *testing.T, topics []string, open map[string]int64) {
	t.Helper()
	var late string
	require.Eventually(t, func() bool {
		end, stable := ends(t, topics, false), ends(t, topics, true)
		late = ""
		for _, topic := range topics {
			want, ok := open[topic]
			if !ok {
				want = end[topic]
			}
			if stable[topic] != want {
				late = topic
			}
		}
		return late == ""
	}, time.Minute, 50*time.Millisecond, "a transaction is not ended: %s", late)
}

// cleanedTo is how far Kafka's cleaner has been, by its own note.
func cleanedTo(t *testing.T, dir, topic string) int64 {
	t.Helper()
	noted, err := kafkadir.ReadOffsets(vfs.OS, dir, kafkadir.CleanerFile)
	require.NoError(t, err)
	return noted[topic+"-0"]
}

// copyTopics copies partitions and the notes that a broker keeps of all of
// them, of a broker that is running but writes nothing there.
func copyTopics(t *testing.T, from, to string, topics []string) {
	t.Helper()
	copyInto(t, from, to)
	for _, topic := range topics {
		copyInto(t, filepath.Join(from, topic+"-0"), filepath.Join(to, topic+"-0"))
	}
}
