package kafka

import (
	"path/filepath"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
)

func serveDescribeLogDirs(q *call, req *kmsg.DescribeLogDirsRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrDescribeLogDirsResponse()
	dir := kmsg.NewDescribeLogDirsResponseDir()
	dir.Dir = q.s.b.Dir()
	if absolute, err := filepath.Abs(dir.Dir); err == nil {
		dir.Dir = absolute
	}
	if total, usable, err := diskSpace(dir.Dir); err == nil {
		dir.TotalBytes, dir.UsableBytes = total, usable
	}
	dir.Topics = []kmsg.DescribeLogDirsResponseDirTopic{}
	if req.Topics == nil {
		for _, t := range q.s.b.Topics() {
			dir.Topics = appendSizes(dir.Topics, t, nil)
		}
	}
	for _, asked := range req.Topics {
		if t, err := q.s.b.Topic(asked.Topic); err == nil {
			dir.Topics = appendSizes(dir.Topics, t, asked.Partitions)
		}
	}
	resp.Dirs = append(resp.Dirs, dir)
	return resp, nil
}

// appendSizes tells the sizes of a topic's partitions, all of them where only is
// nil.
func appendSizes(list []kmsg.DescribeLogDirsResponseDirTopic, t *broker.Topic, only []int32) []kmsg.DescribeLogDirsResponseDirTopic {
	answer := kmsg.NewDescribeLogDirsResponseDirTopic()
	answer.Topic = t.Name()
	for _, p := range t.Partitions() {
		if only != nil && !slices.Contains(only, p.Number()) {
			continue
		}
		l, err := p.Log()
		if err != nil {
			continue
		}
		a := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
		a.Partition, a.Size = p.Number(), l.Stats().Bytes
		answer.Partitions = append(answer.Partitions, a)
	}
	if len(answer.Partitions) == 0 {
		return list
	}
	return append(list, answer)
}
