package group_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/group"
)

// TestRefusedCommitMakesNoGroup: only what is written does.
func TestRefusedCommitMakesNoGroup(t *testing.T) {
	w := newWorld(t, group.Config{})
	r := simple("g")
	r.Offsets = []group.Commit{{TopicPartition: group.TopicPartition{Topic: "topic"}, Metadata: strings.Repeat("m", 4097)}}
	require.Equal(t, group.OffsetMetadataTooLarge, only(t, w.commit(r, 1)))
	require.Equal(t, group.Dead, w.c.Describe("g").State)
	require.Equal(t, group.None, only(t, w.commit(simple("g"), 1)))
	require.Equal(t, group.Empty, w.c.Describe("g").State)
}

// TestReplacementKeepsTheClient: a group tells of a static member's first client,
// as Kafka does.
func TestReplacementKeepsTheClient(t *testing.T) {
	w := newWorld(t, group.Config{})
	a := w.static("c1", "g", "i1")
	a.joining().answer()
	b := w.static("c2", "g", "i1")
	b.joining().answer()
	members := w.c.Describe("g").Members
	require.Len(t, members, 1)
	require.Equal(t, b.id, members[0].MemberID)
	require.Equal(t, "c1", members[0].ClientID)
}

// TestInconsistentMember: the answer names who asked, and a sync without the
// protocol is refused whoever sends it.
func TestInconsistentMember(t *testing.T) {
	w := newWorld(t, group.Config{})
	a := w.client("c1", "g").identified()
	a.joining().answer()
	id := a.id
	a.protocols = speaks("other", "")
	require.Equal(t, group.JoinResponse{Code: group.InconsistentGroupProtocol, Generation: -1, MemberID: id}, a.joining().answer())
	var got group.SyncResponse
	w.c.Sync(w.now, group.SyncRequest{Version: 5, Group: "nothing", MemberID: "nobody"}, func(r group.SyncResponse) { got = r })
	require.Equal(t, group.InconsistentGroupProtocol, got.Code)
	w.c.Sync(w.now, group.SyncRequest{Version: 4, Group: "nothing", MemberID: "nobody"}, func(r group.SyncResponse) { got = r })
	require.Equal(t, group.UnknownMemberID, got.Code)
}
