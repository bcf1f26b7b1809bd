package assign

import (
	"cmp"
	"slices"

	"github.com/seglog/seglog/internal/javahash"
)

// hashSet is a java.util.HashSet of partitions as far as it tells which is its
// first one.
type hashSet struct {
	list []TopicPartition // in the order of insertion
	most int              // there ever were: a table does not shrink
}

func (s *hashSet) add(tp TopicPartition) {
	s.list = append(s.list, tp)
	s.most = max(s.most, len(s.list))
}

func (s *hashSet) remove(tp TopicPartition) {
	s.list = slices.DeleteFunc(s.list, func(e TopicPartition) bool { return e == tp })
}

func (s *hashSet) first() TopicPartition {
	return slices.MinFunc(s.list, func(a, b TopicPartition) int {
		return cmp.Compare(javahash.Bucket(hash(a), s.most), javahash.Bucket(hash(b), s.most))
	})
}

// hash is the hash code of org.apache.kafka.common.TopicPartition.
func hash(tp TopicPartition) int32 {
	return 31*(31+tp.Partition) + javahash.String(tp.Topic)
}
