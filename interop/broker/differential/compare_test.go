package differential

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func joined(id, leader string) *kmsg.JoinGroupResponse {
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.MemberID, resp.LeaderID = id, leader
	return resp
}

const (
	oneID   = "c0-00000000-0000-0000-0000-000000000001"
	otherID = "c0-00000000-0000-0000-0000-000000000002"
	thirdID = "c0-00000000-0000-0000-0000-000000000003"
)

// TestNames: ids that brokers make may differ, and which of them are the same
// may not.
func TestNames(t *testing.T) {
	kafka, ours := newNames("p", "1"), newNames("p", "2")
	fields, _ := unlike(lines(joined(oneID, oneID), kafka), lines(joined(thirdID, thirdID), ours))
	require.Empty(t, fields)
	fields, paths := unlike(lines(joined(otherID, oneID), kafka), lines(joined(otherID, otherID), ours))
	require.Equal(t, []string{`LeaderID: Kafka "c0-<uuid 1>", here "c0-<uuid 2>"`}, fields)
	require.Equal(t, " LeaderID", paths)
}

// TestOrderOfLists: it does not count but in the answer to a fetch.
func TestOrderOfLists(t *testing.T) {
	list := kmsg.NewPtrListGroupsResponse()
	fetched := kmsg.NewPtrFetchResponse()
	for _, name := range []string{"a", "b"} {
		g := kmsg.NewListGroupsResponseGroup()
		g.Group = name
		list.Groups = append(list.Groups, g)
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic = name
		fetched.Topics = append(fetched.Topics, topic)
	}
	n := newNames("p", "1")
	before, fetchedBefore := lines(list, n), lines(fetched, n)
	slices.Reverse(list.Groups)
	slices.Reverse(fetched.Topics)
	fields, _ := unlike(before, lines(list, n))
	require.Empty(t, fields)
	fields, _ = unlike(fetchedBefore, lines(fetched, n))
	require.Len(t, fields, 2)
}

// TestRules: a rule excuses what it says and no more.
func TestRules(t *testing.T) {
	differ := func(req kmsg.Request, kafka, ours []line) []string {
		all := [2][]line{kafka, ours}
		apply(req, &all)
		fields, _ := unlike(all[0], all[1])
		return fields
	}
	join := kmsg.NewPtrJoinGroupRequest()
	unknown, other, none := errorName(-1), errorName(25), errorName(0)
	require.Empty(t, differ(join, []line{{"ErrorCode", unknown}, {"MemberID", `""`}}, []line{{"ErrorCode", other}, {"MemberID", `"m"`}}))
	require.NotEmpty(t, differ(join, []line{{"ErrorCode", unknown}}, []line{{"ErrorCode", none}}))
	require.NotEmpty(t, differ(join, []line{{"ErrorCode", other}}, []line{{"ErrorCode", unknown}}))
	require.Empty(t, differ(join, []line{{"ErrorMessage", "null"}}, []line{{"ErrorMessage", "<text>"}}))
	require.NotEmpty(t, differ(join, []line{{"ErrorMessage", "<text>"}}, []line{{"ErrorMessage", "null"}}))

	missing := []line{{"Topics[0].ErrorCode", errorName(3)}, {"Topics[0].Topic", `"t0"`}}
	there := []line{{"Topics[0].ErrorCode", none}, {"Topics[0].Topic", `"t0"`}}
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version, metadata.AllowAutoTopicCreation = 9, true
	require.Empty(t, differ(metadata, slices.Clone(missing), slices.Clone(there)))
	metadata.AllowAutoTopicCreation = false
	require.NotEmpty(t, differ(metadata, slices.Clone(missing), slices.Clone(there)))

	aborted := func(value, records string) []line {
		return []line{{"P[0].AbortedTransactions", value}, {"P[0].ErrorCode", "0"}, {"P[0].RecordBatches", records}}
	}
	require.Empty(t, differ(kmsg.NewPtrFetchRequest(), aborted("null", "0 of them"), aborted("0 of them", "0 of them")))
	require.NotEmpty(t, differ(kmsg.NewPtrFetchRequest(), aborted("null", "1 of them"), aborted("0 of them", "1 of them")))

	describe := kmsg.NewPtrDescribeConfigsRequest()
	config := func(name, source string) []line {
		return []line{{"R[0].Configs[0].Name", name}, {"R[0].Configs[0].Source", source}}
	}
	require.Empty(t, differ(describe, config(`"min.insync.replicas"`, "3"), config(`"min.insync.replicas"`, "5")))
	require.NotEmpty(t, differ(describe, config(`"retention.ms"`, "3"), config(`"retention.ms"`, "5")))
}

// TestRuleOfTheLargestTime: only where it was asked for, and only if Kafka's record
// is the older one.
func TestRuleOfTheLargestTime(t *testing.T) {
	differs := func(asked int64, kafka, ours string) bool {
		req := kmsg.NewPtrListOffsetsRequest()
		topic, p := kmsg.NewListOffsetsRequestTopic(), kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = 2, asked
		topic.Partitions = append(topic.Partitions, p)
		req.Topics = append(req.Topics, topic)
		answer := func(offset string) []line {
			const at = "Topics[0].Partitions[0]."
			return []line{{at + "Partition", "2"}, {at + "Timestamp", "<then+" + offset + ">"}, {at + "Offset", offset}, {at + "LeaderEpoch", "e" + offset}}
		}
		all := [2][]line{answer(kafka), answer(ours)}
		apply(req, &all)
		fields, _ := unlike(all[0], all[1])
		return len(fields) > 0
	}
	require.False(t, differs(-3, "4", "-1"))
	require.False(t, differs(-3, "4", "7"))
	require.True(t, differs(-3, "7", "4"))
	require.True(t, differs(-3, "-1", "4"))
	require.True(t, differs(-2, "4", "-1"))
}

// TestShorten: what remains is what the difference needs.
func TestShorten(t *testing.T) {
	steps := make([]step, 20)
	for i := range steps {
		steps[i].client = i
	}
	var clients []int
	for _, s := range shorten(steps, func(less []step) bool {
		has := func(client int) bool {
			return slices.ContainsFunc(less, func(s step) bool { return s.client == client })
		}
		return has(3) && has(11) && has(19)
	}) {
		clients = append(clients, s.client)
	}
	require.Equal(t, []int{3, 11, 19}, clients)
}

// TestGenerate: a seed is a conversation.
func TestGenerate(t *testing.T) {
	versions := make(map[int16][2]int16)
	for key := range int16(100) {
		if req := kmsg.RequestForKey(key); req != nil {
			versions[key] = [2]int16{req.MaxVersion(), req.MaxVersion()}
		}
	}
	said := func(seed uint64) (all []string) {
		w := &world{broker: &broker{}, prefix: "p", names: newNames("p", "1"), ids: map[string][][16]byte{}, leads: map[string]leadership{}}
		c := generate(seed, versions)
		for i := range c.clients {
			w.clients = append(w.clients, newClient(i))
		}
		for _, s := range c.steps {
			if req := s.make(w, w.clients[s.client]); req != nil {
				all = append(all, told(req, w.names))
			}
		}
		return all
	}
	require.Equal(t, said(7), said(7))
	require.NotEqual(t, said(7), said(8))
}
