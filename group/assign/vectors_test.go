package assign_test

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/group/assign"
)

func lines[T any](t *testing.T, name string) (list []T) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var v T
		require.NoError(t, json.Unmarshal(s.Bytes(), &v))
		list = append(list, v)
	}
	require.NoError(t, s.Err())
	return list
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

// vector is a line of java-assignors.jsonl.
type vector struct {
	Scenario, Assignor string
	Members            []struct {
		Member, Topics, Metadata string
		Instance, Rack           *string
		Owned                    []string
		Generation               int32
	}
	Answer []struct {
		Member, Assignment string
		Partitions         []string
	}
}

func (v vector) topics() assign.Topics {
	if v.Scenario != "racks" {
		return assign.Topics{"a": {Partitions: 5}, "b": {Partitions: 3}}
	}
	six := assign.Topic{Partitions: 6}
	for i := range 6 {
		six.Racks = append(six.Racks, []string{fmt.Sprintf("r%d", i%3+1)})
	}
	return assign.Topics{"a": six, "b": six}
}

func partitions(t *testing.T, names []string) (list []assign.TopicPartition) {
	t.Helper()
	for _, n := range names {
		topic, number, _ := strings.Cut(n, "-")
		tp := assign.TopicPartition{Topic: topic}
		_, err := fmt.Sscan(number, &tp.Partition)
		require.NoError(t, err)
		list = append(list, tp)
	}
	return list
}

// TestAsJavaAssigns: 44 answers of the assignors of Kafka 4.4, from the bytes
// that members send to those that they get.
func TestAsJavaAssigns(t *testing.T) {
	vectors := lines[vector](t, "java-assignors.jsonl")
	require.Len(t, vectors, 44)
	for _, v := range vectors {
		t.Run(v.Assignor+"/"+v.Scenario, func(t *testing.T) {
			a := assign.Assignors()[v.Assignor]
			var members []assign.Member
			for _, m := range v.Members {
				s, err := assign.ParseSubscription(unhex(t, m.Metadata))
				require.NoError(t, err)
				member := assign.Member{ID: m.Member, Subscription: s}
				if m.Instance != nil {
					member.InstanceID = *m.Instance
				}
				members = append(members, member)

				own := assign.Subscription{Topics: strings.Split(strings.Trim(m.Topics, "[]"), ", "), Owned: partitions(t, m.Owned), Generation: m.Generation}
				own.UserData = a.UserData(own.Owned, own.Generation)
				if m.Rack != nil {
					own.Rack = *m.Rack
				}
				require.Equal(t, m.Metadata, hex.EncodeToString(own.Append(nil)), "the subscription of %s", m.Member)
			}
			got := a.Assign(v.topics(), members)
			for _, want := range v.Answer {
				require.Equal(t, partitions(t, want.Partitions), got[want.Member], want.Member)
				b := assign.AppendAssignment(nil, got[want.Member])
				require.Equal(t, want.Assignment, hex.EncodeToString(b), want.Member)
				back, err := assign.ParseAssignment(b)
				require.NoError(t, err)
				require.ElementsMatch(t, got[want.Member], back)
			}
			require.Len(t, got, len(v.Answer))
		})
	}
}

// randomVector is a line of random.jsonl.
type randomVector struct {
	Assignor string
	Topics   map[string][][]string
	Members  []struct {
		ID                   string
		Instance             *string
		Metadata, Assignment string
	}
}

// TestAsJavaAssignsRandomGroups: the same of random groups that go on for some
// rounds, with ids as Kafka makes them, so that the order of Java's hash maps
// is in the answers. testdata/Vectors.java made them.
func TestAsJavaAssignsRandomGroups(t *testing.T) {
	vectors := lines[randomVector](t, "random.jsonl")
	require.Greater(t, len(vectors), 150)
	for i, v := range vectors {
		topics := make(assign.Topics)
		for name, racks := range v.Topics {
			topics[name] = assign.Topic{Partitions: int32(len(racks)), Racks: racks}
		}
		var members []assign.Member
		for _, m := range v.Members {
			s, err := assign.ParseSubscription(unhex(t, m.Metadata))
			require.NoError(t, err)
			member := assign.Member{ID: m.ID, Subscription: s}
			if m.Instance != nil {
				member.InstanceID = *m.Instance
			}
			members = append(members, member)
		}
		got := assign.Assignors()[v.Assignor].Assign(topics, members)
		for _, m := range v.Members {
			require.Equal(t, m.Assignment, hex.EncodeToString(assign.AppendAssignment(nil, got[m.ID])),
				"%s of line %d for %s", v.Assignor, i+1, m.ID)
		}
	}
}
