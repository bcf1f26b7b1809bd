package kafkadir

import (
	"cmp"
	"encoding/hex"

	"strconv"
	"strings"
)

// ClusterMetadata is the topic of KRaft's own log. The controller owns its one
// partition: to the log manager of a broker it is none.
const ClusterMetadata = "__cluster_metadata"

// State is what the suffix of a directory says of the partition in it.
type State int

const (
	Live State = iota
	Deleted
	Future
	Stray
)

var suffixes = [...]string{Deleted: "-delete", Future: "-future", Stray: "-stray"}

var states = [...]string{"live", "deleted", "future", "stray"}

func (s State) String() string { return states[s] }

// Name is the name of a partition's directory.
type Name struct {
	Topic     string
	Partition int32
	State     State
	ID        string // 32 hex digits; "" if Live
}

// maxName is the longest name that file systems take.
const maxName = 255

// ParseName reads a directory's name; ok is false for one that is no
// partition's.
func ParseName(dir string) (n Name, ok bool) {
	for state := Deleted; state <= Stray; state++ {
		if rest, found := strings.CutSuffix(dir, suffixes[state]); found {
			dot := strings.LastIndexByte(rest, '.')
			if dot < 0 || !isID(rest[dot+1:]) {
				return Name{}, false
			}
			n.State, n.ID, dir = state, rest[dot+1:], rest[:dot]
			break
		}
	}
	dash := strings.LastIndexByte(dir, '-')
	if dash <= 0 {
		return Name{}, false
	}
	digits := dir[dash+1:]
	number, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || strconv.FormatUint(number, 10) != digits {
		return Name{}, false
	}
	n.Topic, n.Partition = dir[:dash], int32(number)
	return n, true
}

func isID(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 32
}

// Live is the name while the partition serves: what checkpoints know it by.
func (n Name) Live() string { return n.Topic + "-" + strconv.Itoa(int(n.Partition)) }

func (n Name) String() string {
	if n.State == Live {
		return n.Live()
	}
	end := "-" + strconv.Itoa(int(n.Partition)) + "." + n.ID + suffixes[n.State]
	topic := n.Topic
	if n.State != Future && len(topic)+len(end) > maxName {
		topic = topic[:maxName-len(end)]
	}
	return topic + end
}

// ValidTopic says whether Kafka takes that name for a topic.
func ValidTopic(topic string) bool {
	const longest = 249
	return topic != "" && topic != "." && topic != ".." && len(topic) <= longest &&
		!strings.ContainsFunc(topic, func(r rune) bool {
			letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
			return !letter && !strings.ContainsRune("._-", r)
		})
}

// Compare orders names as people read them: by topic, then by number.
func (n Name) Compare(o Name) int {
	if c := strings.Compare(n.Topic, o.Topic); c != 0 {
		return c
	}
	if n.Partition != o.Partition {
		return cmp.Compare(n.Partition, o.Partition)
	}
	return strings.Compare(n.String(), o.String())
}
