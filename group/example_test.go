package group_test

import (
	"fmt"
	"time"

	"github.com/seglog/seglog/group"
	"github.com/seglog/seglog/group/assign"
)

// A consumer joins a group, is its leader, assigns the partitions to itself and
// commits an offset. The log of this example takes records at once.
func Example() {
	written := int64(0)
	c := group.New(group.Config{
		Append: func(b group.Batch, done func(int64, group.Code)) {
			first := written
			written += int64(len(b.Records))
			done(first, group.None)
		},
		NewMemberID:           func(prefix string) string { return prefix + "-1" },
		InitialRebalanceDelay: group.NoInitialDelay,
	})
	now := time.Unix(0, 0)
	c.Loaded(now)

	subscription := assign.Subscription{Topics: []string{"orders"}, Generation: assign.NoGeneration}
	join := group.JoinRequest{Version: 9, Group: "billing", ClientID: "app", SessionTimeout: 45 * time.Second, RebalanceTimeout: time.Minute,
		ProtocolType: "consumer", Protocols: []group.Protocol{{Name: "range", Metadata: subscription.Append(nil)}}}
	c.Join(now, join, func(r group.JoinResponse) { // the first join gives an id
		fmt.Println(r.Code, r.MemberID)
		join.MemberID = r.MemberID
	})
	var joined group.JoinResponse
	c.Join(now, join, func(r group.JoinResponse) { joined = r })
	fmt.Println("generation", joined.Generation, "led by", joined.Leader, "of", len(joined.Members))

	member := assign.Member{ID: joined.MemberID, Subscription: subscription}
	assigned := assign.Range{}.Assign(assign.Topics{"orders": {Partitions: 2}}, []assign.Member{member})
	c.Sync(now, group.SyncRequest{Group: "billing", MemberID: joined.MemberID, Generation: joined.Generation,
		Assignments: map[string][]byte{joined.MemberID: assign.AppendAssignment(nil, assigned[joined.MemberID])}},
		func(r group.SyncResponse) {
			partitions, err := assign.ParseAssignment(r.Assignment)
			fmt.Println(r.Code, partitions, err)
		})

	commit := group.Commit{TopicPartition: group.TopicPartition{Topic: "orders", Partition: 1}, Offset: 42, LeaderEpoch: -1}
	c.Commit(now, group.CommitRequest{Group: "billing", MemberID: joined.MemberID, Generation: joined.Generation, Offsets: []group.Commit{commit}},
		func(answers []group.Committed) { fmt.Println("committed:", answers[0].Code) })
	offsets, _ := c.FetchAll("billing", false)
	fmt.Println(offsets[0].Topic, offsets[0].Partition, offsets[0].Offset.Offset)

	c.Tick(now.Add(45 * time.Second)) // no heartbeat
	fmt.Println(c.Describe("billing").State)
	// Output:
	// MEMBER_ID_REQUIRED app-1
	// generation 1 led by app-1 of 1
	// NONE [{orders 0} {orders 1}] <nil>
	// committed: NONE
	// orders 1 42
	// Empty
}
