package kafka

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// TestLeaderEpochsAgree: a partition that the engine wrote under several leader
// epochs, some of them left out, Kafka's tool reads and a broker serves and goes
// on writing under epochs of its own. What the broker answers to
// OffsetForLeaderEpoch is what we answer, of every epoch and those it never had.
func TestLeaderEpochsAgree(t *testing.T) {
	needsKafka(t)
	const topic = "epochs"
	broker := &run.broker
	broker.start(t)
	createTopics(t, map[string]map[string]string{topic: smallSegments})
	broker.stop(t)
	broker.start(t) // under a higher epoch: ours have to be below it
	broker.stop(t)

	w := newWriter(t, filepath.Join(run.dir, "epochs-0"), log.Options{SegmentBytes: 16 << 10})
	for _, epoch := range []int32{0, 1, 3} {
		for range 60 {
			w.leader(0, record.BatchOptions{LeaderEpoch: epoch}, w.records(3, 150)...)
		}
	}
	w.close()
	dump(t, []string{w.dir}, full.flags()...)[w.dir].same(t, render(t, w.dir, full))
	broker.put(t, topic, w.dir)
	for range 2 {
		broker.start(t)
		list := produced(topic, 50, 100, "under the broker's epoch")
		c := client(t)
		send(t, c, list...)
		c.Close()
		for _, r := range list {
			w.all = append(w.all, line(fromClient(r)))
		}
		broker.stop(t)
	}
	broker.start(t)
	send(t, client(t), produced(topic, 1, 100, "last")...)
	end := ends(t, []string{topic}, false)[topic]
	saw := consume(t, topic)[topic]
	sameRecords(t, "Kafka's consumer", w.all, saw.uncommitted.records[:len(w.all)])

	copied := filepath.Join(run.dir, "epochs", topic+"-0")
	copyInto(t, broker.partition(topic), copied)
	l, err := log.Open(t.Context(), copied, log.Options{Mode: log.ReadOnly})
	require.NoError(t, err)
	defer l.Close()
	require.Equal(t, end, l.End())
	history := l.LeaderEpochs()
	require.GreaterOrEqual(t, len(history), 6, "%v", history)
	text, err := os.ReadFile(filepath.Join(copied, "leader-epoch-checkpoint"))
	require.NoError(t, err)
	require.Contains(t, string(text), "\n0 0\n1 180\n3 360\n", "Kafka kept our epochs")
	for epoch := int32(-1); epoch <= history[len(history)-1].Epoch+3; epoch++ {
		wantEpoch, wantEnd := int32(-1), int64(-1)
		if known, end, ok := l.EndOffsetForEpoch(epoch); ok {
			wantEpoch, wantEnd = known, end
		}
		gotEpoch, gotEnd := endOfEpoch(t, topic, epoch)
		require.Equal(t, gotEpoch, wantEpoch, "epoch %d, of %v", epoch, history)
		require.Equal(t, gotEnd, wantEnd, "end of epoch %d, of %v", epoch, history)
	}
	t.Logf("epochs and where they begin: %v", history)
}

// endOfEpoch is the broker's answer to OffsetForLeaderEpoch; -1 is unknown.
func endOfEpoch(t *testing.T, topic string, epoch int32) (known int32, end int64) {
	t.Helper()
	req := kmsg.NewPtrOffsetForLeaderEpochRequest()
	rt := kmsg.NewOffsetForLeaderEpochRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
	rp.CurrentLeaderEpoch, rp.LeaderEpoch = -1, epoch
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	c := client(t)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shards := c.RequestSharded(ctx, req)
	require.Len(t, shards, 1)
	require.NoError(t, shards[0].Err)
	answer := shards[0].Resp.(*kmsg.OffsetForLeaderEpochResponse).Topics[0].Partitions[0]
	require.NoError(t, kerr.ErrorForCode(answer.ErrorCode))
	return answer.LeaderEpoch, answer.EndOffset
}
