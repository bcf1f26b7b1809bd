package kafka

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/group"
)

// TestOffsetsByID: from version 10 on topics are named by their ids, and who asks
// for no topic is told of all.
func TestOffsetsByID(t *testing.T) {
	s := serve(t, t.TempDir(), "", quick())
	topic(t, s, "t", 2)
	known, err := s.b.Topic("t")
	require.NoError(t, err)
	unknown := broker.TopicID{1}
	findGroup(t, s, "g")
	w := dial(t, s.addr)
	// A topic that is not here, as in a directory that was Kafka's, has no id.
	require.NoError(t, s.b.Group("g", func(c *group.Coordinator, now time.Time) {
		c.Commit(now, group.CommitRequest{Group: "g", Generation: -1, Offsets: []group.Commit{{TopicPartition: group.TopicPartition{Topic: "gone"}}}},
			func([]group.Committed) {})
	}))
	commit := committing("g", "", 1, 7)
	commit.Topics[0].TopicID = known.ID()
	other := committing("g", "", 0, 7).Topics[0]
	other.TopicID = unknown
	beyond := commit.Topics[0].Partitions[0]
	beyond.Partition = 2
	commit.Topics[0].Partitions = append(commit.Topics[0].Partitions, beyond)
	commit.Topics = append([]kmsg.OffsetCommitRequestTopic{other}, commit.Topics...)
	got := ask[*kmsg.OffsetCommitResponse](w, commit, 10).Topics
	require.Len(t, got, 2)
	assert.Equal(t, kerr.UnknownTopicID.Code, got[0].Partitions[0].ErrorCode)
	assert.Equal(t, [16]byte(known.ID()), got[1].TopicID)
	assert.Zero(t, got[1].Partitions[0].ErrorCode)
	assert.Equal(t, kerr.UnknownTopicOrPartition.Code, got[1].Partitions[1].ErrorCode)

	fetch := kmsg.NewPtrOffsetFetchRequest()
	one := kmsg.NewOffsetFetchRequestGroup()
	one.Group = "g"
	for _, id := range []broker.TopicID{unknown, known.ID()} {
		topic := kmsg.NewOffsetFetchRequestGroupTopic()
		topic.TopicID, topic.Partitions = id, []int32{0, 1}
		one.Topics = append(one.Topics, topic)
	}
	all := kmsg.NewOffsetFetchRequestGroup()
	all.Group = "g"
	nobody := all
	nobody.Group = "nobody"
	fetch.Groups = []kmsg.OffsetFetchRequestGroup{one, all, nobody}
	groups := ask[*kmsg.OffsetFetchResponse](w, fetch, 10).Groups
	require.Len(t, groups, 3)
	require.Len(t, groups[0].Topics, 2)
	for i, want := range []kmsg.OffsetFetchResponseGroupTopicPartition{
		{Partition: 0, Offset: -1, LeaderEpoch: -1, Metadata: kmsg.StringPtr(""), ErrorCode: kerr.UnknownTopicID.Code},
		{Partition: 1, Offset: -1, LeaderEpoch: -1, Metadata: kmsg.StringPtr(""), ErrorCode: kerr.UnknownTopicID.Code},
	} {
		assert.Equal(t, want, groups[0].Topics[0].Partitions[i])
	}
	assert.Equal(t, [16]byte(known.ID()), groups[0].Topics[1].TopicID)
	assert.EqualValues(t, -1, groups[0].Topics[1].Partitions[0].Offset)
	assert.EqualValues(t, 7, groups[0].Topics[1].Partitions[1].Offset)
	require.Len(t, groups[1].Topics, 1)
	assert.Equal(t, [16]byte(known.ID()), groups[1].Topics[0].TopicID)
	require.Len(t, groups[1].Topics[0].Partitions, 1)
	assert.EqualValues(t, 7, groups[1].Topics[0].Partitions[0].Offset)
	assert.Empty(t, groups[2].Topics)
	assert.Zero(t, groups[2].ErrorCode)
}

// TestGroupsDeleted: offsets and groups are deleted, but no group with members.
func TestGroupsDeleted(t *testing.T) {
	s := serve(t, t.TempDir(), "", quick())
	topic(t, s, "t", 1)
	topic(t, s, "u", 1)
	findGroup(t, s, "g")
	w := dial(t, s.addr)
	for _, id := range []string{"simple", "other"} {
		for _, name := range []string{"t", "u"} {
			require.Zero(t, ask[*kmsg.OffsetCommitResponse](w, committing(id, name, 0, 3), 7).Topics[0].Partitions[0].ErrorCode)
		}
	}
	id, _ := w.form("members")

	offsets := kmsg.NewPtrOffsetDeleteRequest()
	offsets.Group = "simple"
	for _, name := range []string{"missing", "t"} {
		topic := kmsg.NewOffsetDeleteRequestTopic()
		topic.Topic, topic.Partitions = name, []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}}
		offsets.Topics = append(offsets.Topics, topic)
	}
	deleted := ask[*kmsg.OffsetDeleteResponse](w, offsets, 0)
	require.Zero(t, deleted.ErrorCode)
	assert.Equal(t, kerr.UnknownTopicOrPartition.Code, deleted.Topics[0].Partitions[0].ErrorCode)
	assert.Zero(t, deleted.Topics[1].Partitions[0].ErrorCode)
	assert.EqualValues(t, -1, committed(t, s, "simple", "t"))
	assert.EqualValues(t, 3, committed(t, s, "simple", "u"))
	offsets.Group = "nobody"
	assert.Equal(t, kerr.GroupIDNotFound.Code, ask[*kmsg.OffsetDeleteResponse](w, offsets, 0).ErrorCode)

	drop := func(groups ...string) (codes []int16) {
		req := kmsg.NewPtrDeleteGroupsRequest()
		req.Groups = groups
		for i, g := range ask[*kmsg.DeleteGroupsResponse](w, req, 3).Groups {
			assert.Equal(t, groups[i], g.Group)
			assert.Equal(t, g.ErrorCode != 0, g.ErrorMessage != nil)
			codes = append(codes, g.ErrorCode)
		}
		return codes
	}
	assert.Equal(t, []int16{0, kerr.NonEmptyGroup.Code, kerr.GroupIDNotFound.Code}, drop("simple", "members", "nobody", "simple"))
	assert.EqualValues(t, -1, committed(t, s, "simple", "u"))
	assert.EqualValues(t, 3, committed(t, s, "other", "u"))

	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group, leave.MemberID = "members", "nobody"
	assert.Equal(t, kerr.UnknownMemberID.Code, ask[*kmsg.LeaveGroupResponse](w, leave, 2).ErrorCode)
	for _, member := range []string{"nobody", id} {
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID = member
		leave.Members = append(leave.Members, m)
	}
	left := ask[*kmsg.LeaveGroupResponse](w, leave, 5)
	require.Zero(t, left.ErrorCode)
	require.Len(t, left.Members, 2)
	assert.Equal(t, kerr.UnknownMemberID.Code, left.Members[0].ErrorCode)
	assert.Zero(t, left.Members[1].ErrorCode)
	assert.Equal(t, []int16{0}, drop("members"))

	list := ask[*kmsg.ListGroupsResponse](w, kmsg.NewPtrListGroupsRequest(), 5)
	require.Len(t, list.Groups, 1)
	assert.Equal(t, "other", list.Groups[0].Group)
	assert.Equal(t, "Empty", list.Groups[0].GroupState)
	assert.Equal(t, "classic", list.Groups[0].GroupType)
	assert.Equal(t, kerr.GroupIDNotFound.Code, func() int16 {
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Groups = []string{"members"}
		return ask[*kmsg.DescribeGroupsResponse](w, req, 6).Groups[0].ErrorCode
	}())
}
